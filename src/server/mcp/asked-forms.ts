/**
 * Questions to the user of a client of protocol versions up to 2025-11-25, while its call stays open. The id of each
 * request to the client is that of its wait. So the answer finds the wait in whichever process it arrives, without
 * shared state.
 */
import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import type { RuntimeClient } from '../../client/runtime-client.ts';
import type { Wait } from '../../store/wait/wait-record.ts';
import { type Caller, requireReachable, requireScope } from '../api/caller.ts';
import { readFilled, toAnswer, toForm } from './client-form.ts';

type FormListener = (how: 'answered' | 'put away') => void;

/** Calls of this process with open questions, by wait id. A dismissal at another process does not end the call. */
export class OpenForms {
  readonly #calls = new Map<string, Set<FormListener>>();

  listen(waitId: string, listener: FormListener): () => void {
    const calls = this.#calls.get(waitId) ?? new Set();
    this.#calls.set(waitId, calls.add(listener));
    return () => {
      calls.delete(listener);
      if (calls.size === 0) this.#calls.delete(waitId);
    };
  }

  tell(waitId: string, how: Parameters<FormListener>[0]): void {
    for (const listener of [...(this.#calls.get(waitId) ?? [])]) listener(how);
  }
}

/** The questions of one call. */
export class AskedForms {
  readonly #send: (message: JSONRPCMessage) => void;
  readonly #forms: OpenForms;
  readonly #dismissal = new AbortController();
  readonly #asked = new Set<string>();
  readonly #open = new Map<string, () => void>();

  constructor(send: (message: JSONRPCMessage) => void, forms: OpenForms) {
    this.#send = send;
    this.#forms = forms;
  }

  /** Fires when one of the questions was dismissed. */
  get dismissed(): AbortSignal {
    return this.#dismissal.signal;
  }

  /** Asks new questions, and withdraws those whose waits are over. False if no wait can be asked as a form. */
  show(waits: readonly Wait[]): boolean {
    for (const id of this.#open.keys()) if (!waits.some((wait) => wait.id === id)) this.#cancelRequest(id);
    for (const wait of waits) this.#ask(wait);
    return waits.some(({ id }) => this.#asked.has(id));
  }

  /** Withdraws all open questions: the call has ended. */
  end(): void {
    for (const id of this.#open.keys()) this.#cancelRequest(id);
  }

  #ask(wait: Wait): void {
    const form = this.#asked.has(wait.id) ? undefined : toForm(wait);
    if (!form) return;
    this.#asked.add(wait.id);
    const forget = this.#forms.listen(wait.id, (how) => {
      this.#forget(wait.id);
      if (how === 'put away') this.#dismissal.abort();
    });
    this.#open.set(wait.id, forget);
    this.#send({ jsonrpc: '2.0', id: wait.id, method: 'elicitation/create', params: { ...form } });
  }

  #forget(id: string): void {
    this.#open.get(id)?.();
    this.#open.delete(id);
  }

  #cancelRequest(requestId: string): void {
    this.#forget(requestId);
    const params = { requestId, reason: 'It was answered elsewhere, or is no longer needed.' };
    this.#send({ jsonrpc: '2.0', method: 'notifications/cancelled', params });
  }
}

export interface ClientResponse {
  readonly id?: unknown;
  readonly result?: unknown;
}

/** Stores a client's answer to one of these requests. Throws the same errors as answering a wait over HTTP. */
export async function handleResponse(
  client: RuntimeClient,
  caller: Caller,
  { id, result }: ClientResponse,
  forms: OpenForms,
): Promise<void> {
  requireScope(caller, 'answer');
  const wait = await client.getWait(String(id));
  await requireReachable(client, caller, wait.threadId);
  let how: Parameters<OpenForms['tell']>[1] = 'put away';
  try {
    const answer = toAnswer(wait, readFilled(result));
    if (!answer) return;
    await client.answerWait(wait.id, { ...answer, by: caller.name ?? 'mcp' });
    how = 'answered';
  } finally {
    // An answer that does not fit has no answer of its own: the call ends with the wait, which is still open.
    forms.tell(wait.id, how);
  }
}
