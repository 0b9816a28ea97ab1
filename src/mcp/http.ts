/** A server that is reached over streamable HTTP, through the wall of `outbound`. */
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { McpReach } from '../core/author/mcp-server.ts';
import { type WallFault, walledFetch } from '../outbound/index.ts';
import { McpFailure } from './failure.ts';
import { MCP_LIMITS } from './limit.ts';

type Address = Extract<McpReach, { by: 'http' }>;

export class HttpTransport extends StreamableHTTPClientTransport {
  /** The server's fault for which the transport was given up, if any. */
  failure: McpFailure | undefined;

  constructor({ url, headers }: Address) {
    const target = new URL(url);
    const fault: WallFault = (kind, message) =>
      this.#fault(new McpFailure(kind === 'redirect' ? 'McpRedirect' : 'McpTooLarge', message));
    super(target, {
      requestInit: { headers },
      fetch: walledFetch({
        allows: ({ origin, pathname }) => origin === target.origin && pathname === target.pathname,
        maxBytes: MCP_LIMITS.requestBytes,
        maxMessages: MCP_LIMITS.requestMessages,
        fault,
      }),
      // An interrupted call is neither sent again nor resumed: the caller decides.
      reconnectionOptions: {
        maxRetries: 0,
        initialReconnectionDelay: 1000,
        maxReconnectionDelay: 1000,
        reconnectionDelayGrowFactor: 1,
      },
    });
  }

  /** Nothing to reset: `walledFetch` counts each request separately. */
  allow(): void {}

  #fault(failure: McpFailure): McpFailure {
    this.failure ??= failure;
    return failure;
  }
}
