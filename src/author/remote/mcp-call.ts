/**
 * The body of a tool of an MCP server (docs/mcp.md): fills in variables, makes one call, and opens a durable wait if
 * the server asks questions before it goes on.
 * - A server that asks a question has not executed the call yet. The state that it returns with the question is
 *   stored with the wait, so any process can continue the call. The call is sent once for each round of answers.
 * - Whatever a server does becomes a result with a code, and the connection is closed.
 */

import type { McpReach } from '../../core/author/mcp-server.ts';
import type { ToolDefinition } from '../../core/author/registry.ts';
import type { ThreadState } from '../../core/author/thread-state.ts';
import type { ToolResult } from '../../core/message/message.ts';
import {
  type AskTerms,
  callTool,
  isMcpFailure,
  MCP_LIMITS,
  type McpAsks,
  type McpCall,
  type McpPlace,
  withConnection,
} from '../../remote/mcp/index.ts';
import type { Recall } from '../policy/ask.ts';
import { createTextFiller } from '../tool/fill-texts.ts';

type Remote = NonNullable<ToolDefinition['remote']>;

export interface McpBody {
  readonly remote: Remote;
  readonly state: ThreadState;
  readonly args: unknown;
  /** Returns earlier questions of this call. */
  readonly recall: Recall | undefined;
}

export async function runMcpCall({ remote, state, args, recall }: McpBody): Promise<ToolResult> {
  const { connectTimeoutMs, timeoutMs } = remote.server;
  const signal = state.execution?.abortSignal ?? AbortSignal.timeout(connectTimeoutMs + timeoutMs);
  const reach = await fillReach(remote.server, (name) => state.env(name));
  const place = { threadId: state.threadId, reach, connectTimeoutMs };
  const terms = { signal, timeoutMs };
  const call = { name: remote.tool, arguments: (args ?? {}) as Readonly<Record<string, unknown>> };
  let known: RoundAnswers | undefined;
  for (let round = 0; round < MCP_LIMITS.rounds; round++) {
    // A round that was stored is not sent again.
    const asks = recallRound(recall, round) ?? (await send(place, { ...call, ...known }, terms));
    if ('status' in asks) return asks;
    known = await askAll(state, round, asks);
  }
  return {
    status: 'error',
    error: `It asked more than ${MCP_LIMITS.rounds} times.`,
    error_code: 'McpInvalid',
  };
}

interface RoundAnswers {
  readonly answers: Readonly<Record<string, unknown>>;
  readonly state?: string;
}

async function send(place: McpPlace, call: McpCall, terms: AskTerms): Promise<ToolResult | McpAsks> {
  try {
    return await withConnection(place, terms.signal, async (connection) => {
      const answer = await callTool(connection, call, terms);
      return answer.kind === 'result' ? answer.result : answer.asks;
    });
  } catch (error) {
    // A failure becomes a result.
    if (isMcpFailure(error)) return { status: 'error', error: error.message, error_code: error.code };
    throw error;
  }
}

/** Returns how the server is reached, with the thread's variables filled in. */
export async function fillReach(
  { reach }: Pick<Remote['server'], 'reach'>,
  read: (name: string) => Promise<string>,
): Promise<McpReach> {
  const texts =
    reach.by === 'stdio' ? [...reach.args, ...Object.values(reach.env)] : Object.values(reach.headers);
  const filling = await createTextFiller(texts, read);
  return reach.by === 'stdio'
    ? { ...reach, args: reach.args.map(filling.text), env: filling.all(reach.env) }
    : { ...reach, headers: filling.all(reach.headers) };
}

/** Asks the questions of a round one by one; the wait of the first one stores the whole round. */
async function askAll(state: ThreadState, round: number, asks: McpAsks): Promise<RoundAnswers> {
  // Not a record yet: the names are the server's, and one may be `__proto__`.
  const answers: [name: string, answer: unknown][] = [];
  for (const [index, [name, { message, schema }]] of Object.entries(asks.requests).entries()) {
    const data = { schema, ...(index === 0 ? { asks } : {}) };
    try {
      const { value } = await state.ask({ key: keyOf(round, index), question: message, data });
      answers.push([name, { action: 'accept', content: value }]);
    } catch (error) {
      if ((error as { code?: unknown })?.code !== 'ActionDenied') throw error;
      answers.push([name, { action: 'decline' }]);
    }
  }
  return { answers: Object.fromEntries(answers), ...(asks.state === undefined ? {} : { state: asks.state }) };
}

function recallRound(recall: Recall | undefined, round: number): McpAsks | undefined {
  return (recall?.(keyOf(round, 0)) as { asks?: McpAsks } | undefined)?.asks;
}

const keyOf = (round: number, index: number) => `mcp:${round}:${index}`;
