"""How clients reach the door; surfaces only translate."""
