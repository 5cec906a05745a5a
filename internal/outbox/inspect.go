package outbox

import "github.com/openbraid/braid/internal/inspect"

// Inspect is what is not done yet.
func (b *Box) Inspect() inspect.Work {
	q := &b.queues
	return inspect.Work{
		Epoch: b.book.Current(), Fenced: b.fenced, Unexecuted: b.book.Left(), Uncovered: b.Uncovered(),
		Replays: q.replayOrdered.n + q.replayAny.n + q.replayOther.n, Ordered: q.pendOrdered.Len(), Unordered: q.pendAny.Len() + q.signals.Len(),
		WaitingBytes: b.waiting, Flushes: q.flushes.Len() + q.partial.Len(), Gets: b.gets.pend.Len() + b.gets.waiting.Len(), Answers: b.gets.replies.n,
		Credits: b.Credits, CreditBytes: int64(b.Backlog) - int64(b.credit.sent-b.credit.granted),
	}
}
