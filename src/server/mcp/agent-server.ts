/**
 * Serves the agents of a project as the tools of an MCP server, for one caller: over HTTP (mcp-door.ts) and over
 * standard streams (`everthread mcp`). Questions of agents to people are passed to the client: since protocol version
 * 2026-07-28 in the result of the call, before that as a request to the client during the call (asked-forms.ts).
 */
import { randomUUID } from 'node:crypto';
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type InputRequiredResult,
  type JSONRPCErrorResponse,
  type JSONRPCMessage,
  type JSONRPCResponse,
  ProtocolError,
  ProtocolErrorCode,
  type RequestId,
  Server,
} from '@modelcontextprotocol/server';
import type { RuntimeClient } from '../../client/runtime-client.ts';
import { isRuntimeError, RuntimeError } from '../../core/value/error.ts';
import { type Caller, requireReachable, requireScope } from '../api/caller.ts';
import type { ApiAgent } from '../api/host.ts';
import { type AgentCall, callAgent } from './agent-call.ts';
import { AskedForms, handleResponse, type OpenForms } from './asked-forms.ts';
import { showsForms } from './session-id.ts';
import { FILE_TEMPLATE, readResource, toFilePlace } from './thread-resource.ts';
import { toCall, toTools } from './tool-call.ts';
import { type EarlierRound, readEarlierRound, refuse, toResult } from './tool-result.ts';

export interface AgentServerHost {
  readonly client: RuntimeClient;
  readonly agents: () => readonly ApiAgent[];
  readonly caller: Caller;
  /** True if a cancellation is an explicit message. If false, it may only mean that the connection broke. */
  readonly hearsCancel: boolean;
  /** Registers a call as a stream. The signal fires when its response must end; the work continues. */
  readonly enter: (threadId: string) => { readonly signal: AbortSignal; leave(): void };
  /** Forms that calls of this process have open. */
  readonly forms: OpenForms;
  /** True if the client has declared before this request that it can show forms. */
  readonly showsForms?: boolean;
  /** Receives faults whose details callers do not see. */
  readonly onError: (error: unknown) => void;
}

export function createAgentServer(host: AgentServerHost): AgentServer {
  const server = new AgentServer(host);
  const { client, caller } = host;
  server.setRequestHandler('tools/list', () => ({ tools: toTools(host.agents()) }));
  server.setRequestHandler('resources/list', () => ({ resources: [] }));
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [
      {
        name: 'file',
        uriTemplate: FILE_TEMPLATE,
        description: 'A file of a thread; results name the files that an agent has written.',
      },
    ],
  }));
  server.setRequestHandler('resources/read', async ({ params: { uri } }) => {
    try {
      const place = toFilePlace(uri);
      if (!place)
        throw new RuntimeError('FileNotFound', `Only files of threads can be read: ${FILE_TEMPLATE}`);
      await requireReachable(client, caller, place.threadId);
      return await readResource(client, place, uri);
    } catch (error) {
      if (isRuntimeError(error))
        throw new ProtocolError(ProtocolErrorCode.InvalidParams, `${error.code}: ${error.message}`);
      host.onError(error);
      throw new ProtocolError(
        ProtocolErrorCode.InternalError,
        'The file could not be read. The log of the server has the reason.',
      );
    }
  });
  server.setRequestHandler('tools/call', async ({ params: { name, arguments: given = {} } }, { mcpReq }) => {
    const token = mcpReq._meta?.progressToken;
    let progress = 0;
    const notify = (message: string) => {
      progress += 1;
      if (token === undefined) return;
      const params = { progressToken: token, progress, message };
      void mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {});
    };
    const { inputResponses } = mcpReq;
    const before = readEarlierRound(mcpReq.requestState(), inputResponses);
    // Without the state the call would begin the same work again.
    if (inputResponses && !before)
      return refuse(
        'InvalidMessage: Answers must be sent with the requestState that came with the requests that they answer.',
      );
    const { id, signal: canceled } = mcpReq;
    return server.answer({
      id,
      agent: name,
      given,
      before,
      envelope: mcpReq.envelope,
      canceled,
      tell: notify,
    });
  });
  return server;
}

interface ToolCallInput {
  readonly id: RequestId;
  readonly agent: string;
  readonly given: Readonly<Record<string, unknown>>;
  /** What an earlier round of this call asked, with the answers. */
  readonly before: EarlierRound | undefined;
  /** Set for clients of 2026-07-28 or later, which declare their capabilities with each request. */
  readonly envelope: Readonly<Record<string, unknown>> | undefined;
  readonly canceled: AbortSignal;
  readonly tell: (words: string) => void;
}

export class AgentServer extends Server {
  readonly #host: AgentServerHost;
  /** A promise for each answer to our requests that this connection received; settles once the answer is stored. */
  readonly answers: Promise<void>[] = [];

  constructor(host: AgentServerHost) {
    super(
      { name: 'everthread', version: '0.1.0' },
      {
        capabilities: { tools: {}, resources: {} },
        instructions:
          'Each tool is an agent. A result names its thread: pass that thread in another call to continue it. A long call may end before the agent has finished; call again with only the thread to keep waiting.',
      },
    );
    this.#host = host;
  }

  /** Ids of our own requests are strings: the ids of waits. */
  protected override _onresponse(response: JSONRPCResponse | JSONRPCErrorResponse): void {
    if (typeof response.id !== 'string') {
      super._onresponse(response);
      return;
    }
    const { client, caller, forms } = this.#host;
    const responses = handleResponse(client, caller, response, forms);
    responses.catch(this.#host.onError);
    this.answers.push(responses);
  }

  async answer(asked: ToolCallInput): Promise<CallToolResult | InputRequiredResult> {
    const { client, caller, enter, onError } = this.#host;
    try {
      requireScope(caller, 'write');
      const call = await this.#toCall(asked);
      if (typeof call === 'string') return refuse(call);
      const place = enter(call.threadId ?? randomUUID());
      const forms = this.#formsOf(asked);
      try {
        const end = await callAgent(client, caller, call, {
          ...termsOf(this.#host, asked, place.signal),
          tell: asked.tell,
          ...(forms && { show: (waits) => forms.show(waits), dismissed: forms.dismissed }),
        });
        const mayAsk = asked.envelope !== undefined && !asked.before?.isDismissed && this.#mayAsk(asked);
        return await toResult(client, end, mayAsk);
      } finally {
        forms?.end();
        place.leave();
      }
    } catch (error) {
      if (isRuntimeError(error)) return refuse(`${error.code}: ${error.message}`);
      onError(error);
      return refuse('The call could not be served. The log of the server has the reason.');
    }
  }

  async #toCall({ agent, given, before }: ToolCallInput): Promise<AgentCall | string> {
    if (!before) return toCall(this.#host.agents(), agent, given);
    const { thread: threadId, execution: executionId, reportedSeq, filled } = before;
    return { agent, threadId, executionId, reportedSeq, filled };
  }

  /** Forms that are shown during the call. Undefined if the client is asked by the call's result, or not at all. */
  #formsOf(asked: ToolCallInput): AskedForms | undefined {
    const { transport } = this;
    if (asked.envelope !== undefined || !transport || !this.#mayAsk(asked)) return undefined;
    const options = { relatedRequestId: asked.id };
    // A client that has disconnected is shown nothing: the wait stays open.
    const send = (message: JSONRPCMessage) => void transport.send(message, options).catch(() => {});
    return new AskedForms(send, this.#host.forms);
  }

  #mayAsk({ envelope }: ToolCallInput): boolean {
    const { caller, showsForms: isKnown = false } = this.#host;
    const capabilities = envelope ? envelope[CLIENT_CAPABILITIES_META_KEY] : this.getClientCapabilities();
    return (
      (isKnown || showsForms(capabilities)) &&
      (caller.scopes.includes('answer') || caller.scopes.includes('admin'))
    );
  }
}

/**
 * Over HTTP the end of a request means its cancellation since 2026-07-28; before that it means nothing. A caller that
 * has named an execution can return to it, so the end of its request cancels nothing.
 */
function termsOf(
  { hearsCancel }: AgentServerHost,
  { canceled, envelope, given }: ToolCallInput,
  leaving: AbortSignal,
) {
  const isCancel = hearsCancel || (envelope !== undefined && given.execution === undefined);
  if (isCancel) return { canceled, leaving };
  return { canceled: NEVER_ABORTED, leaving: AbortSignal.any([canceled, leaving]) };
}

const NEVER_ABORTED = new AbortController().signal;
