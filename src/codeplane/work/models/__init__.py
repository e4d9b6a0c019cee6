"""Language models: who may be asked, how a call is made, and what it costs."""
