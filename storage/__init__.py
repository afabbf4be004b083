"""The two stores: SQL, which is the truth, and vectors, which can always be rebuilt from it.

SQL      is asked through  `sql`         SQLite (a thread of its own: `sqlite`) or PostgreSQL, by an `address`
         holds             `schema`      every table; `migrations` bring an older one up to it
         takes             `texts`       as both databases can; `parts`: many values, a few at a time
         lets write        `locking`     one transaction at a time where it has to be one
         is sealed by      `sealing`     under the operator's key; `resealing` puts another in its place
         is away           `outages`     which errors say so
         remembers         `remembered`  values of the gateway itself, by name
vectors  are asked by      `vectors`     one protocol; `points` and `graph` are what its stores share
         in process        `edge`        a `folder` with one open `shard`; `optimizing` builds its graph
         on a server       `qdrant`
         by their words    `lexical`
arrays   that can be made again are kept by `arrays`, on disk and never the truth
"""
