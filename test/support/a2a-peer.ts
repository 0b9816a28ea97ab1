/**
 * An in-memory A2A server with one agent per path. `/keeps` lists its tasks with their messages; `/forgets` supports no
 * listing and treats every message as new; `/once` deduplicates messages by id. A message that begins with "ask" makes
 * it ask "For whom?"; any other message completes its task at once.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type PeerKind = 'keeps' | 'forgets' | 'once';

export interface Heard {
  readonly messageId: string;
  readonly text: string;
  /** False if the message was lost before the agent processed it. */
  readonly taken: boolean;
}

export interface A2aPeer {
  readonly origin: string;
  /** Messages that an agent has received, in order. */
  heard(kind: PeerKind): readonly Heard[];
  /** What each task of the agent has done, as text. */
  done(kind: PeerKind): readonly string[];
  /** The agent takes or loses its next message and never answers it; resolves once that message has arrived. */
  holdNext(kind: PeerKind, what: 'taken' | 'lost'): Promise<void>;
  close(): void;
}

interface Task {
  readonly id: string;
  readonly contextId: string;
  state: 'COMPLETED' | 'INPUT_REQUIRED';
  said: string;
  readonly history: object[];
}

interface Sent {
  readonly messageId: string;
  readonly contextId: string;
  readonly taskId?: string;
  readonly parts: readonly { readonly text?: string }[];
}

const NOT_FOUND = { code: -32001, message: 'There is no such task.' };
const UNSUPPORTED = { code: -32004, message: 'Tasks are not listed here.' };

class Agent {
  readonly tasks: Task[] = [];
  readonly heard: Heard[] = [];
  readonly #kind: PeerKind;
  held: { readonly what: 'taken' | 'lost'; readonly told: () => void } | undefined;

  constructor(kind: PeerKind) {
    this.#kind = kind;
  }

  /** Returns the JSON-RPC result or error; undefined if the request is never answered. */
  answer(
    method: string,
    params: { readonly id?: string; readonly contextId?: string; readonly message?: Sent },
  ) {
    if (method === 'SendMessage') return this.#send(params.message as Sent);
    if (method === 'ListTasks') {
      if (this.#kind === 'forgets') return { error: UNSUPPORTED };
      const tasks = this.tasks.filter(({ contextId }) => contextId === params.contextId).map(toShape);
      return { result: { tasks, nextPageToken: '', pageSize: 50, totalSize: tasks.length } };
    }
    const task = this.tasks.find(({ id }) => id === params.id);
    return task ? { result: toShape(task) } : { error: NOT_FOUND };
  }

  #send(message: Sent) {
    const { held } = this;
    this.held = undefined;
    const taken = held?.what !== 'lost';
    const text = message.parts.map((part) => part.text ?? '').join('');
    const known = this.heard.some(
      ({ messageId, taken: before }) => before && messageId === message.messageId,
    );
    this.heard.push({ messageId: message.messageId, text, taken });
    const task = taken ? this.#take(message, text, known && this.#kind === 'once') : undefined;
    held?.told();
    return held ? undefined : { result: { task: task && toShape(task) } };
  }

  #take({ messageId, contextId, taskId }: Sent, text: string, again: boolean): Task | undefined {
    const open = this.tasks.find(({ id, contextId: own }) => (taskId ? id === taskId : own === contextId));
    if (again) return open;
    const line = { messageId, contextId, role: 'ROLE_USER', parts: [{ text }] };
    if (taskId && open) {
      Object.assign(open, { state: 'COMPLETED', said: `${open.said} ${text}` });
      open.history.push(line);
      return open;
    }
    const state = text.startsWith('ask') ? 'INPUT_REQUIRED' : 'COMPLETED';
    const task: Task = { id: randomUUID(), contextId, state, said: `did ${text}`, history: [line] };
    this.tasks.push(task);
    return task;
  }
}

function toShape({ id, contextId, state, said, history }: Task): object {
  const asks = { messageId: `asks-${id}`, role: 'ROLE_AGENT', parts: [{ text: 'For whom?' }] };
  const status = { state: `TASK_STATE_${state}`, ...(state === 'INPUT_REQUIRED' && { message: asks }) };
  const artifacts = state === 'COMPLETED' ? [{ artifactId: 'a', parts: [{ text: said }] }] : [];
  return { id, contextId, status, artifacts, history };
}

export async function startA2aPeer(): Promise<A2aPeer> {
  const agents = { keeps: new Agent('keeps'), forgets: new Agent('forgets'), once: new Agent('once') };
  let origin = '';
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const [, kind = '', rest] = (request.url ?? '').split('/');
    const url = `${origin}/${kind}`;
    if (rest !== undefined) {
      const supportedInterfaces = [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }];
      response.end(
        JSON.stringify({ name: kind, description: '', supportedInterfaces, capabilities: {}, skills: [] }),
      );
      return;
    }
    let body = '';
    for await (const piece of request) body += piece;
    const { id, method, params } = JSON.parse(body);
    const answer = agents[kind as PeerKind].answer(method, params);
    if (answer) response.end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
  };
  const server = createServer((request, response) => void serve(request, response));
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    heard: (kind) => agents[kind].heard,
    done: (kind) => agents[kind].tasks.map(({ said }) => said),
    holdNext: (kind, what) =>
      new Promise((told) => {
        agents[kind].held = { what, told };
      }),
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
