/** A server that is reached over streamable HTTP, through the wall of `outbound`. */
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { McpReach } from '../core/author/mcp-server.ts';
import { type WallFault, walledFetch } from '../outbound/index.ts';
import { McpFailure } from './failure.ts';
import { MCP_LIMITS } from './limit.ts';

type Address = Extract<McpReach, { by: 'http' }>;

export class HttpTransport extends StreamableHTTPClientTransport {
  /** Why it was given up, where it was at fault. */
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
      // A call that was cut off is not sent again, nor read on: whoever called decides.
      reconnectionOptions: {
        maxRetries: 0,
        initialReconnectionDelay: 1000,
        maxReconnectionDelay: 1000,
        reconnectionDelayGrowFactor: 1,
      },
    });
  }

  /** Each request is counted by itself. */
  allow(): void {}

  #fault(failure: McpFailure): McpFailure {
    this.failure ??= failure;
    return failure;
  }
}
