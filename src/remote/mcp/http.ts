/**
 * A server that is reached over streamable HTTP, through the wall of `outbound`.
 * - A failure says how the server has answered, and where. Servers echo what they are sent: the values of headers and
 *   of the query are removed from it.
 */
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { McpReach } from '../../core/author/mcp-server.ts';
import { buildRedactor } from '../../core/redaction/redactor.ts';
import { quote, type WallFault, walledFetch } from '../wall/index.ts';
import { McpFailure } from './failure.ts';
import { MCP_LIMITS } from './limit.ts';

/** Shorter values would match ordinary words. */
const SHORTEST_SECRET = 6;

type Address = Extract<McpReach, { by: 'http' }>;

export class HttpTransport extends StreamableHTTPClientTransport {
  /** The server's fault for which the transport was given up, if any. */
  failure: McpFailure | undefined;
  readonly #address: Address;
  #answer = 'It did not answer';

  constructor(address: Address) {
    const { url, headers } = address;
    const target = new URL(url);
    const fault: WallFault = (kind, message) =>
      this.#fault(new McpFailure(kind === 'redirect' ? 'McpRedirect' : 'McpTooLarge', message));
    const reach = walledFetch({
      allows: ({ origin, pathname }) => origin === target.origin && pathname === target.pathname,
      maxBytes: MCP_LIMITS.requestBytes,
      maxMessages: MCP_LIMITS.requestMessages,
      fault,
    });
    super(target, {
      requestInit: { headers },
      fetch: async (input, init) => this.#note(await reach(input, init)),
      // An interrupted call is neither sent again nor resumed: the caller decides.
      reconnectionOptions: {
        maxRetries: 0,
        initialReconnectionDelay: 1000,
        maxReconnectionDelay: 1000,
        reconnectionDelayGrowFactor: 1,
      },
    });
    this.#address = address;
  }

  /** Nothing to reset: `walledFetch` counts each request separately. */
  allow(): void {}

  /** The same failure, with the answer and the address. */
  explain({ code, message }: McpFailure): McpFailure {
    const { url, headers } = this.#address;
    const { origin, pathname, searchParams } = new URL(url);
    const values = [...Object.values(headers).flatMap((value) => [value, ...value.split(/\s+/)])];
    const secrets = [...values, ...searchParams.values()].filter(({ length }) => length >= SHORTEST_SECRET);
    const { redact } = buildRedactor(secrets.map((value) => ({ value, mark: '[secret]' })));
    return new McpFailure(code, `${this.#answer} at ${origin}${pathname}: ${redact(message)}`);
  }

  #note(response: Response): Response {
    const { ok, status, statusText, headers } = response;
    const type = headers.get('content-type') ?? 'no type of content';
    this.#answer = ok
      ? `It answered ${status}, with ${quote(type, 80)},`
      : `It answered ${status} ${quote(statusText, 80)}`.trim();
    return response;
  }

  #fault(failure: McpFailure): McpFailure {
    this.failure ??= failure;
    return failure;
  }
}
