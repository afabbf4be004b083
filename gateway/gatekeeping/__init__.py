"""The gate as it serves: fitted from the policy, taught by reviewers, watched by canaries.

a policy      is read by     `policy`      its texts and `files`; `lists`: what is denied or allowed by word
a gate        is put up by   `opening`     over proof of `scope`; `outside`: the judges that an operator adds
              holds by       `vocabulary`  what names what stands in nothing of the operator's
              cuts at        `promises`    what `sekisho calibrate gate` found
              learns by      `learning`    what admins accepted; the old one serves until the new one stands
              is watched by  `canaries`    questions that must always pass
a question    is judged by   `turns`       with the turns before it in view, put together from `fragments`
what if       is asked by    `replay`      past questions through another gate, put up `elsewhere`
              is told by     `shadow`      what rules would have done that are not enforced
"""
