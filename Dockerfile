# The command line.
#   docker build -t kernsift .
#   docker run --rm -v "$PWD:/data" kernsift select wine.csv
FROM rust:1.93-slim AS build
WORKDIR /src
COPY . .
RUN cargo build --release --locked --package kernsift-cli

FROM debian:trixie-slim
COPY --from=build /src/target/release/kernsift /usr/local/bin/kernsift
COPY LICENSE-MIT LICENSE-APACHE /usr/share/doc/kernsift/
WORKDIR /data
ENTRYPOINT ["kernsift"]
