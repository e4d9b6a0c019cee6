# What all policies together say of a call, unweighed.
package codeplane.answer

import rego.v1

yours["deny"] := data.codeplane.policy.deny

yours["ask"] := data.codeplane.policy.ask

yours["allow"] := data.codeplane.policy.allow

answer := {"shipped": data.codeplane.shipped.rules, "yours": yours}
