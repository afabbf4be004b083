"""The gate as it serves: fitted from the policy, taught by reviewers, watched by canaries."""
