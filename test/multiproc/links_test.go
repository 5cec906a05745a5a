package multiproc
func putUntilTold(*self, job) {}
func dialMany(*self, job) {}
