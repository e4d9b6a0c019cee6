# The rules CodePlane ships with. Every call passes here; rules of your own in .codeplane/policy come on top
# (docs/guides/policy.md says how they are combined). A call that no rule allows is refused.
package codeplane.shipped

import rego.v1

# All findings about a call; the caller of the policy weighs them.
rules := {"deny": deny, "ask": ask, "allow": allow}

# What several rules look at has a name and, where it can be missing, a default: only that is worked out once.
kind := input.actor.kind

risk := input.risk

guarded := {
	"DESTRUCTIVE": "it can destroy work or history",
	"EXFILTRATION": "it sends things out of this machine",
	"HIGH": "it runs a shell command",
}

# The reason that a person reads: the effects of this call, or those of its kind.
reason := text if {
	text := concat(" and ", input.effects)
	text != ""
}

else := guarded[risk]

# People are not asked about what they call themselves.
default person := false

person if kind in ["owner", "device"]

# The owner's setting, or that of the caller's token where it is stricter: a token is never laxer.
default token := ""

token := input.context.grant.approval_mode

setting := input.context.mode

mode := "always" if token == "always"

else := "trust" if {
	token == "trust"
	setting == "automatic"
}

else := setting

default named := false

named if {
	input.operation.name in input.context.allow
	token != "always"
}

known if {
	kind in ["owner", "device", "agent", "assistant", "job", "system"]
	risk in ["READ", "WRITE", "EXFILTRATION", "DESTRUCTIVE", "HIGH"]
	setting in ["automatic", "trust", "always"]
}

deny contains "this kind of caller, risk or trust.mode is unknown" if not known

# After untrusted content was read, an agent's outward calls are asked about whatever the rules here decide, and so are those of a
# job at any time: these are no rules, so none can lift them. Rules of your own see the one as `untrusted` in the context,
# the other as the actor's kind.

# No mode and no list skips the question for a shell command; only the owner at the keyboard is not asked.
ask contains reason if {
	risk == "HIGH"
	kind != "owner"
}

ask contains reason if {
	risk in ["DESTRUCTIVE", "EXFILTRATION"]
	not person
	mode != "automatic"
	not named
}

ask contains "every change is asked about" if {
	mode == "always"
	risk != "READ"
	not person
	not named
	kind != "system"
}

allow contains why

why := "it only reads" if risk == "READ"

else := "a person calls it themselves" if person

else := "it changes nothing but the workspace" if risk == "WRITE"

else := sprintf("%s is named in trust.allow", [input.operation.name]) if {
	risk in ["DESTRUCTIVE", "EXFILTRATION"]
	named
}

else := "trust.mode is automatic" if {
	mode == "automatic"
	risk in ["DESTRUCTIVE", "EXFILTRATION"]
}
