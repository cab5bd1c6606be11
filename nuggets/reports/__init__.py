"""Reports written from a bank: what documents say to its questions, found by a model and put together as a run."""
