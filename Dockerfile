# The command line. Both images are of the same release of Debian, so that they have the same C library.
#   docker build -t kernsift .
#   docker run --rm --user "$(id -u):$(id -g)" -v "$PWD:/data" kernsift select wine.csv
FROM rust:1.93-slim-trixie AS build
WORKDIR /src
COPY . .
RUN cargo build --release --locked --package kernsift-cli

FROM debian:trixie-slim
COPY --from=build /src/target/release/kernsift /usr/local/bin/kernsift
COPY LICENSE-MIT LICENSE-APACHE /usr/share/doc/kernsift/
WORKDIR /data
ENTRYPOINT ["kernsift"]
