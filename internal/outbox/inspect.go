package outbox

import "github.com/openbraid/braid/internal/inspect"

// Inspect is what is not done yet.
func (b *Box) Inspect() inspect.Work {
	q := &b.queues
	answers, _ := b.Left()
	return inspect.Work{
		Epoch: b.book.Current(), Fenced: b.fenced, Unexecuted: b.book.Left(), Uncovered: b.Uncovered(),
		Replays: q.replayOrdered.Len() + q.replayAny.Len() + q.replayOther.Len(), Ordered: q.pendOrdered.Len(), Unordered: q.pendAny.Len() + q.signals.Len(),
		WaitingBytes: b.waiting, Flushes: q.flushes.Len() + q.partial.Len(), Gets: b.gets.pend.Len() + b.gets.waiting.Len(), Answers: answers,
		Credits: b.Credits, CreditBytes: b.credit.Left(b.Backlog),
	}
}
