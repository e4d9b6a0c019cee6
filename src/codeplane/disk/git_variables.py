"""Environment variables that keep git from fetching objects which a partial clone lacks.

To fetch them git runs what the settings of the repository name, and those may have been written by others.
"""

# Git knows it since 2.44 and some earlier patch releases.
NO_LAZY_FETCH = {"GIT_NO_LAZY_FETCH": "1"}
# This works in every version.
NO_TRANSPORT = {"GIT_ALLOW_PROTOCOL": "none"}
NO_FETCH = NO_LAZY_FETCH | NO_TRANSPORT
