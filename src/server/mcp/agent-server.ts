/** The agents of a project as the tools of an MCP server, for one caller: over HTTP (mcp-door.ts) and over standard streams (`everthread mcp`). */
import { randomUUID } from 'node:crypto';
import { type CallToolResult, Server, type Tool } from '@modelcontextprotocol/server';
import type { RuntimeClient } from '../../client/runtime-client.ts';
import { isRuntimeError } from '../../core/value/error.ts';
import { type Caller, requireScope } from '../api/caller.ts';
import type { ApiAgent } from '../api/host.ts';
import { type AgentCall, type CallEnd, callAgent } from './agent-call.ts';

export interface AgentServerHost {
  readonly client: RuntimeClient;
  readonly agents: () => readonly ApiAgent[];
  readonly caller: Caller;
  /** A cancellation is a message of its own. Else it may be no more than a connection that broke. */
  readonly hearsCancel: boolean;
  /** The response is to end, whatever the work does; a place of its own for each call. */
  readonly enter: (threadId: string) => { readonly signal: AbortSignal; leave(): void };
  /** Of faults that callers are not told. */
  readonly onError: (error: unknown) => void;
}

/** What the protocol advises for names. */
const NAME = /^[\w.-]{1,128}$/;

const INPUT: Tool['inputSchema'] = {
  type: 'object',
  properties: {
    message: { type: 'string', description: 'What is said to the agent.' },
    thread: {
      type: 'string',
      description:
        'The id of the thread of an earlier call, to go on with it. Without a message: to wait for what it is doing.',
    },
    execution: {
      type: 'string',
      description:
        'An id of your own for this call, new for each message: the same call sent again under it is answered the same, and done once.',
    },
  },
  additionalProperties: false,
};

export function createAgentServer(host: AgentServerHost): Server {
  const server = new Server(
    { name: 'everthread', version: '0.1.0' },
    {
      capabilities: { tools: {} },
      instructions:
        'Each tool is an agent. A result names its thread: give it in another call to go on. A call that takes long may end before the agent does, and a call with the thread alone waits on.',
    },
  );
  server.setRequestHandler('tools/list', () => ({
    tools: host
      .agents()
      .filter(({ name }) => NAME.test(name))
      .map(toTool),
  }));
  server.setRequestHandler('tools/call', async ({ params: { name, arguments: given = {} } }, { mcpReq }) => {
    const token = mcpReq._meta?.progressToken;
    let progress = 0;
    const tell = (message: string) => {
      progress += 1;
      if (token === undefined) return;
      const params = { progressToken: token, progress, message };
      void mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {});
    };
    return answer(host, { agent: name, given, canceled: mcpReq.signal, tell });
  });
  return server;
}

function toTool({ name, title, description }: ApiAgent): Tool {
  return {
    name,
    ...(title === null ? {} : { title }),
    description: description ?? title ?? `Talks to the agent ${name}.`,
    inputSchema: INPUT,
  };
}

interface Asked {
  readonly agent: string;
  readonly given: Readonly<Record<string, unknown>>;
  readonly canceled: AbortSignal;
  readonly tell: (words: string) => void;
}

async function answer(
  host: AgentServerHost,
  { agent, given, canceled, tell }: Asked,
): Promise<CallToolResult> {
  try {
    requireScope(host.caller, 'write');
    const call = toCall(host, agent, given);
    if (typeof call === 'string') return refuse(call);
    const place = host.enter(call.threadId ?? randomUUID());
    try {
      return toResult(
        await callAgent(host.client, host.caller, call, {
          ...termsOf(host, call, canceled, place.signal),
          tell,
        }),
      );
    } finally {
      place.leave();
    }
  } catch (error) {
    if (isRuntimeError(error)) return refuse(`${error.code}: ${error.message}`);
    host.onError(error);
    return refuse('The call could not be served. The log of the server says why.');
  }
}

/** Whoever has named an execution comes back to it: what broke is left, and nothing is cancelled. */
function termsOf(
  { hearsCancel }: AgentServerHost,
  { executionId }: AgentCall,
  canceled: AbortSignal,
  leaving: AbortSignal,
) {
  if (hearsCancel || executionId === undefined) return { canceled, leaving };
  return { canceled: NEVER, leaving: AbortSignal.any([canceled, leaving]) };
}

const NEVER = new AbortController().signal;

function toCall({ agents }: AgentServerHost, agent: string, given: Asked['given']): AgentCall | string {
  if (!agents().some(({ name }) => name === agent))
    return `AgentNotFound: There is no agent "${agent.slice(0, 128)}".`;
  const { message, thread, execution, ...more } = given;
  const [unknown] = Object.keys(more);
  if (unknown !== undefined)
    return `InvalidMessage: A call takes message, thread and execution, and no "${unknown.slice(0, 64)}".`;
  if (message !== undefined && typeof message !== 'string') return 'InvalidMessage: message is a text.';
  if (thread !== undefined && typeof thread !== 'string')
    return 'InvalidMessage: thread is the id of a thread.';
  if (execution !== undefined && typeof execution !== 'string')
    return 'InvalidMessage: execution is an id, a text.';
  return { agent, message, threadId: thread, executionId: execution };
}

function refuse(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}

/** The thread stands in the text as well: models read that. */
function toResult(end: CallEnd): CallToolResult {
  const { threadId, executionId, kind } = end;
  const place = { type: 'text' as const, text: `(thread ${threadId})` };
  const structuredContent = { thread: threadId, execution: executionId, status: kind };
  const told = (text: string) => [{ type: 'text' as const, text }, place];
  switch (end.kind) {
    case 'answered':
      return { content: told(end.text), structuredContent: { ...structuredContent, text: end.text } };
    case 'failed':
      return { content: told(end.error), structuredContent, isError: true };
    case 'waits': {
      const lines = end.waits.map(({ id, kind: asked, summary }) => `${asked} ${id}: ${summary}`);
      const text = `It waits for a person. Once that is answered, call with the thread alone.\n${lines.join('\n')}`;
      return { content: told(text), structuredContent: { ...structuredContent, waits: end.waits } };
    }
    case 'working':
      return { content: told('It is still at work: call with the thread alone.'), structuredContent };
  }
}
