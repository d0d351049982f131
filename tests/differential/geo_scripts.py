"""Scripts of geo commands. ``test_geo.py`` runs them; the language is ``command_scripts.py``'s.

``SICILY`` adds two cities to ``a``, ``WORLD`` some places all over the map to ``w``.
"""

from __future__ import annotations

SICILY = "GEOADD a 13.361389 38.115556 Palermo 15.087269 37.502669 Catania"
WORLD = (
    "GEOADD w 0 0 zero 180 85.05112878 ne -180 -85.05112878 sw 180 -85.05112878 se "
    "-180 85.05112878 nw 179.9 0 east -179.9 0 west 0 85 north 0 -85 south 0.0001 0.0001 near "
    "-0.0001 -0.0001 nearer 13.361389 38.115556 Palermo 15.087269 37.502669 Catania "
    "2.349014 48.864716 Paris -0.118092 51.509865 London 151.2093 -33.8688 Sydney "
    "-70.6693 -33.4489 Santiago 37.6173 55.7558 Moscow 25 70 cape 25 81 ice 100 -70 shelf"
)

SCRIPTS = {
    "geoadd": """
        SICILY
        GEOADD a 13.361389 38.115556 Palermo
        GEOADD a NX 1 1 Palermo 1 1 new
        GEOADD a XX CH 2 2 Palermo 2 2 nobody
        GEOADD a CH NX XX 1 1 x
        GEOADD a ch 3 3 Palermo 3 3 q
        GEOADD a INCR 1 1 x
        GEOADD a 1 1
        GEOADD a 1 1 x 2 2
        GEOADD a nx ch nx
        GEOADD a nx ch
        GEOADD a x 1 m
        GEOADD a 1 x m
        GEOADD a 181 0 m
        GEOADD a 0 86 m
        GEOADD a -180.0001 0 m
        GEOADD a 1 1 fine inf 0 m
        GEOADD a 0 -inf m
        GEOADD a 1e300 0 m
        GEOADD a nan 0 m
        GEOADD a 180 85.05112878 corner -180 -85.05112878 other
        ZRANGE a 0 -1 WITHSCORES
        GEOPOS a corner other Palermo
        GEOADD x XX 1 1 m
        EXISTS x
        SET s v
        GEOADD s 1 1 m
        GEOADD s 181 1 m
    """,
    "reading": """
        GEOPOS a x
        GEOHASH a x
        GEODIST a x y
        SICILY
        GEOPOS a Palermo nobody Catania
        GEOPOS a
        GEOHASH a Palermo nobody Catania
        GEOHASH a
        GEODIST a Palermo Catania
        GEODIST a Palermo Catania m
        GEODIST a Palermo Catania KM
        GEODIST a Palermo Catania ft
        GEODIST a Palermo Catania mi
        GEODIST a Palermo Catania x
        GEODIST a Palermo Catania m m
        GEODIST a Palermo
        GEODIST a Palermo nobody
        GEODIST a nobody Palermo
        GEODIST a Palermo Palermo
        GEODIST nokey x y z
        GEODIST nokey x y m z
        WORLD
        GEOHASH w zero ne sw se nw east west north south near Sydney Santiago
        GEOPOS w zero ne sw se nw east west north south near Sydney Santiago
        GEODIST w zero near
        GEODIST w near nearer mi
        GEODIST w ne sw
        GEODIST w east west
        GEODIST w north south km
        GEODIST w se nw ft
        SET s v
        GEOPOS s x
        GEOHASH s x
        GEODIST s x y
        GEODIST s x y z
    """,
    "odd_scores": """
        ZADD a -1 minus 0.5 half inf inf -inf minf 1e19 large 1e20 larger -1e19 small
        ZADD a 3e15 in 9.3e18 over
        ZADD a 4503599627370496 edge 18446744073709551615 max 9223372036854775808 two63 5e-324 tiny
        GEOPOS a minus half inf minf large larger small in over edge max two63 tiny
        GEOHASH a minus half inf minf large larger small in over edge max two63 tiny
        GEODIST a minus half
        GEODIST a inf large
        GEORADIUS a 0 0 30000 km WITHHASH WITHCOORD WITHDIST
        GEORADIUS a 0 0 1 m WITHHASH
        GEOSEARCH a FROMMEMBER inf BYRADIUS 100000 km WITHHASH ASC
    """,
    "georadius": """
        SICILY
        GEORADIUS a 15 37 200 km
        GEORADIUS a 15 37 200 km WITHDIST
        GEORADIUS a 15 37 200 km WITHCOORD
        GEORADIUS a 15 37 200 km WITHHASH
        GEORADIUS a 15 37 200 km WITHDIST WITHCOORD WITHHASH
        GEORADIUS a 15 37 200 km withhash WITHHASH ASC
        GEORADIUS a 15 37 200 km DESC
        GEORADIUS a 15 37 200 km DESC ASC
        GEORADIUS a 15 37 200 km COUNT 1
        GEORADIUS a 15 37 200 km COUNT 1 DESC
        GEORADIUS a 15 37 200 km COUNT 1 ANY
        GEORADIUS a 15 37 200 km ANY COUNT 1 ASC
        GEORADIUS a 15 37 200 km COUNT 5 WITHDIST
        GEORADIUS a 15 37 200 km ANY
        GEORADIUS a 15 37 200 km COUNT 0
        GEORADIUS a 15 37 200 km COUNT -1
        GEORADIUS a 15 37 200 km COUNT x
        GEORADIUS a 15 37 200 km COUNT
        GEORADIUS a 15 37 200 km FOO
        GEORADIUS a 15 37 1 m
        GEORADIUS a 15 37 0 m
        GEORADIUS a 15 37 x m
        GEORADIUS a 15 37 -1 m
        GEORADIUS a 15 37 1 x
        GEORADIUS a 15 37 -1 x
        GEORADIUS a 15 x 1 x
        GEORADIUS a 181 0 1 m
        GEORADIUS a 15 37 inf m
        GEORADIUS a 15 37 1e308 mi WITHDIST
        GEORADIUS a 15 37 nan m
        GEORADIUS a 15 37
        GEORADIUS nokey 15 37 200 km
        GEORADIUS nokey 15 37 200 km FOO
        GEORADIUS nokey 15 37 200 x
        GEORADIUS nokey 15 37 200 km STORE d
        GEORADIUS_RO a 15 37 200 km WITHDIST
        GEORADIUS_RO a 15 37 200 km STORE d
        GEORADIUS_RO a 15 37 200 km STOREDIST d
        GEORADIUSBYMEMBER a Palermo 200 km
        GEORADIUSBYMEMBER a Palermo 100 km WITHDIST WITHCOORD
        GEORADIUSBYMEMBER a nobody 100 km
        GEORADIUSBYMEMBER a nobody x x
        GEORADIUSBYMEMBER a Palermo x km
        GEORADIUSBYMEMBER nokey Palermo x y
        GEORADIUSBYMEMBER nokey Palermo x y FOO
        GEORADIUSBYMEMBER nokey Palermo x y STORE d
        GEORADIUSBYMEMBER_RO a Palermo 200 km ASC
        GEORADIUSBYMEMBER_RO a Palermo 200 km STORE d
        SET s v
        GEORADIUS s 181 0 1 m
        GEORADIUSBYMEMBER s x 1 m
    """,
    "storing": """
        SICILY
        GEORADIUS a 15 37 200 km STORE d
        ZRANGE d 0 -1 WITHSCORES
        GEORADIUS a 15 37 200 km STOREDIST d
        ZRANGE d 0 -1 WITHSCORES
        GEORADIUS a 15 37 200 mi STORE c STOREDIST d COUNT 1
        ZRANGE d 0 -1 WITHSCORES
        GEORADIUS a 15 37 200 mi STOREDIST d STORE d COUNT 1 DESC
        ZRANGE d 0 -1 WITHSCORES
        GEORADIUS a 15 37 200 km STORE
        GEORADIUS a 15 37 200 km STORE d WITHDIST
        GEORADIUS a 15 37 200 km WITHCOORD STOREDIST d
        GEORADIUS a 15 37 200 km WITHHASH STORE d ANY
        GEORADIUS a 0 0 1 m STORE d
        EXISTS d
        GEORADIUS a 0 0 1 m STORE d
        GEORADIUSBYMEMBER a Palermo 200 km STOREDIST d
        ZRANGE d 0 -1 WITHSCORES
        GEOSEARCHSTORE d a FROMLONLAT 15 37 BYBOX 400 400 km
        ZRANGE d 0 -1 WITHSCORES
        GEOSEARCHSTORE d a FROMLONLAT 15 37 BYBOX 400 400 km STOREDIST COUNT 1
        ZRANGE d 0 -1 WITHSCORES
        GEOSEARCHSTORE d a FROMLONLAT 15 37 BYBOX 400 400 km STOREDIST x
        GEOSEARCHSTORE d a FROMLONLAT 15 37 BYBOX 400 400 km WITHDIST
        GEOSEARCHSTORE d a FROMLONLAT 15 37 BYBOX 1 1 m
        EXISTS d
        GEOSEARCHSTORE d nokey FROMMEMBER x BYBOX 1 1 m
        ZADD d 1 x
        GEOSEARCHSTORE d nokey FROMMEMBER x BYBOX 1 1 m
        GEOSEARCHSTORE a a FROMMEMBER Palermo BYRADIUS 1 km
        ZRANGE a 0 -1 WITHSCORES
        CONFIG SET zset-max-listpack-entries 1
        WORLD
        GEORADIUS w 0 0 30000 km STORE d
        OBJECT ENCODING d
        ZSCAN d 0 COUNT 100
        CONFIG SET zset-max-listpack-entries 128
    """,
    "geosearch": """
        SICILY
        GEOSEARCH a FROMLONLAT 15 37 BYRADIUS 200 km
        GEOSEARCH a FROMLONLAT 15 37 BYBOX 400 400 km WITHDIST WITHCOORD WITHHASH
        GEOSEARCH a BYBOX 400 400 km FROMMEMBER Palermo DESC
        GEOSEARCH a FROMMEMBER Palermo BYRADIUS 200 km COUNT 1 ANY
        GEOSEARCH a FROMMEMBER nobody BYRADIUS 200 km
        GEOSEARCH a FROMMEMBER nobody FOO
        GEOSEARCH a FROMMEMBER Palermo FROMMEMBER Catania BYRADIUS 1 km
        GEOSEARCH a FROMLONLAT 1 1 FROMLONLAT 15 37 BYRADIUS 200 km
        GEOSEARCH a FROMMEMBER Palermo FROMLONLAT 15 37 BYRADIUS 200 km
        GEOSEARCH a FROMLONLAT 15 37 FROMMEMBER Palermo BYRADIUS 200 km
        GEOSEARCH a FROMLONLAT 15 37 BYRADIUS 200 km BYBOX 1 1 km
        GEOSEARCH a FROMLONLAT 15 37 BYBOX 1 1 km BYRADIUS 200 km
        GEOSEARCH a FROMLONLAT 15 37 BYRADIUS 1 km BYRADIUS 200 km
        GEOSEARCH a FROMLONLAT 15 37 BYBOX 1 1 km BYBOX 400 400 km
        GEOSEARCH a FROMLONLAT 15 37 ASC WITHDIST WITHCOORD
        geosearch a BYBOX 1 1 km ASC WITHDIST
        GeoSearch a ASC WITHDIST WITHCOORD WITHHASH ASC
        GEOSEARCH a FROMLONLAT 15 37 BYRADIUS 200 km ANY
        GEOSEARCH a FROMLONLAT 15 37 BYRADIUS 200 km COUNT 0
        GEOSEARCH a FROMLONLAT 15 37 BYRADIUS 200 km STORE d
        GEOSEARCH a FROMLONLAT 15 37 BYRADIUS 200 km STOREDIST
        GEOSEARCH a FROMLONLAT 15 37 BYRADIUS 200
        GEOSEARCH a FROMLONLAT 15 37 BYBOX 1 1
        GEOSEARCH a BYRADIUS 200 km ASC FROMLONLAT 15
        GEOSEARCH a BYRADIUS 200 km ASC FROMMEMBER
        GEOSEARCH a FROMLONLAT 15 37 BYBOX x 1 km
        GEOSEARCH a FROMLONLAT 15 37 BYBOX 1 x km
        GEOSEARCH a FROMLONLAT 15 37 BYBOX -1 1 km
        GEOSEARCH a FROMLONLAT 15 37 BYBOX 1 -1 x
        GEOSEARCH a FROMLONLAT 15 37 BYBOX 1 1 x
        GEOSEARCH a FROMLONLAT 15 37 BYBOX 0 0 m
        GEOSEARCH a FROMLONLAT 15 37 BYBOX inf inf m
        GEOSEARCH a FROMLONLAT 15 37 BYBOX inf 1 m
        GEOSEARCH a FROMLONLAT 181 37 BYBOX 1 1 m
        GEOSEARCH a FROMLONLAT x 37 BYBOX 1 1 m
        GEOSEARCH nokey FROMLONLAT 15 37 BYRADIUS 200 km
        GEOSEARCH nokey FROMMEMBER x BYRADIUS 200 km
        GEOSEARCH nokey FROMMEMBER x BYRADIUS x km
        GEOSEARCH nokey FROMMEMBER x FROMLONLAT 1 1 BYRADIUS 1 km
        GEOSEARCH nokey FROMLONLAT 15 37 ASC DESC WITHDIST
        SET s v
        GEOSEARCH s FOO FOO FOO FOO FOO
        GEOSEARCHSTORE d s FOO FOO FOO FOO FOO
    """,
    "world": "WORLD\n"
    + "\n".join(
        f"GEOSEARCH w FROMMEMBER {member} {shape} ASC WITHDIST"
        for member in "zero ne sw se nw east west north south Palermo Sydney cape ice shelf".split()
        for shape in (
            "BYRADIUS 100 m",
            "BYRADIUS 1000 km",
            "BYRADIUS 5000 km",
            "BYRADIUS 10000 km",
            "BYRADIUS 30000 km",
            "BYBOX 100 100 m",
            "BYBOX 4000 200 km",
            "BYBOX 200 4000 km",
            "BYBOX 20000 20000 km",
            "BYBOX 40000 40000 km",
        )
    ),
    "order_of_the_found": """
        WORLD
        GEOSEARCH w FROMLONLAT 0 0 BYRADIUS 30000 km
        GEOSEARCH w FROMLONLAT 20 40 BYRADIUS 3000 km
        GEOSEARCH w FROMLONLAT 20 40 BYRADIUS 3000 km COUNT 3 ANY
        GEOSEARCH w FROMLONLAT -20 -40 BYRADIUS 12000 km COUNT 3 ANY WITHDIST
        GEOSEARCH w FROMLONLAT -20 -40 BYRADIUS 12000 km COUNT 3 WITHDIST
    """,
}
