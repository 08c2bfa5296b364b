import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { clientNetwork, plainAddress } from "./networks.ts";

/** The most connections of a port. */
export interface ConnectionLimits {
  readonly inAll: number;
  readonly perAddress: number;
  /** True for addresses without a limit of their own: trusted proxies, which have the connections of many clients. */
  readonly isExempt: (address: string) => boolean;
}

/** The limit that ends a connection: that of its address, or that of the port. */
export type ConnectionLimit = "address" | "port";

interface Connection {
  readonly socket: Socket;
  readonly client: Client;
  /** The requests that are not answered yet. */
  answering: number;
}

/** The connections of an address: those that wait for a request, the one that has waited the longest first, and the others. */
interface Client {
  readonly isExempt: boolean;
  readonly idle: Set<Connection>;
  readonly busy: Set<Connection>;
}

/**
 * Limits the connections of a server. At a limit, a new connection takes the place of another one: the one that has waited the longest for
 * a request, of the address itself at its own limit, of the address with the most connections at the limit of the port. If none of those
 * waits, it takes the place of the oldest one of the address with the most, unless it is of this address: then it is refused. So a client
 * with few connections, such as a probe of the kubelet, is served beside one with thousands. An IPv6 client counts by its /64 network.
 */
export function limitConnections(
  server: Server,
  limits: ConnectionLimits,
  onEnded: (by: ConnectionLimit) => void,
): void {
  const clients = new Map<string, Client>();
  const connections = new Map<string, Connection>();

  server.on("connection", (socket: Socket) => {
    // The client has left already.
    if (socket.remoteAddress === undefined) return;
    const address = plainAddress(socket.remoteAddress);
    const key = clientNetwork(address);
    const client = clients.get(key) ?? { isExempt: limits.isExempt(address), idle: new Set(), busy: new Set() };
    if (!client.isExempt && countOf(client) >= limits.perAddress && !makePlace(client, client, "address")) {
      socket.destroy();
      return;
    }
    if (connections.size >= limits.inAll && !makePlace(largest(), client, "port")) {
      socket.destroy();
      return;
    }
    clients.set(key, client);
    const connection = { socket, client, answering: 0 };
    const name = nameOf(socket);
    connections.set(name, connection);
    client.idle.add(connection);
    socket.once("close", () => {
      forget(name, connection);
      if (countOf(client) === 0 && clients.get(key) === client) clients.delete(key);
    });
  });

  server.on("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
    // With TLS, the socket of the request is another one than that of the connection. Both have the same addresses.
    const connection = connections.get(nameOf(socket));
    if (connection === undefined) return;
    const { idle, busy } = connection.client;
    connection.answering += 1;
    idle.delete(connection);
    busy.add(connection);
    response.once("close", () => {
      connection.answering -= 1;
      if (connection.answering > 0 || !busy.delete(connection)) return;
      idle.add(connection);
    });
  });

  /** Ends a connection of a client for a new one of another. Returns false if the new one is to be refused. */
  function makePlace(of: Client, newcomer: Client, by: ConnectionLimit): boolean {
    onEnded(by);
    const [first] = of.idle.size > 0 ? of.idle : of === newcomer ? [] : of.busy;
    if (first === undefined) return false;
    const name = nameOf(first.socket);
    first.socket.destroy();
    // The socket is closed later. Its place is free at once.
    forget(name, first);
    return true;
  }

  function forget(name: string, connection: Connection): void {
    if (connections.get(name) === connection) connections.delete(name);
    connection.client.idle.delete(connection);
    connection.client.busy.delete(connection);
  }

  /** Returns the client with the most connections. Proxies come last. */
  function largest(): Client {
    const rank = (client: Client): number => (client.isExempt ? 0 : countOf(client));
    return [...clients.values()].reduce((most, client) => (rank(client) > rank(most) ? client : most));
  }
}

const countOf = ({ idle, busy }: Client): number => idle.size + busy.size;

const nameOf = ({ remoteAddress, remotePort }: Pick<Socket, "remoteAddress" | "remotePort">): string =>
  `${remoteAddress} ${remotePort}`;
