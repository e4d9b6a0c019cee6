"""Jobs: a goal that a model works on in the background, with the turns' loop on the engine of work items."""
