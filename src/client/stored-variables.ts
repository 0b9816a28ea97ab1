/** Variables of threads, users and the instance, and pending requests for them (definitions §16, runtime §7.5): needs only the store. */
import type { EnvType } from '../core/author/thread-env.ts';
import type { EnvEntry, EnvOwner, ThreadVariable } from '../store/env/env-record.ts';
import type { VariableRequest } from '../store/family/family-record.ts';
import type { ThreadStore } from '../store/store.ts';
import { requireThread } from './known-thread.ts';
import { requestNotFound } from './provide-variables.ts';

export class StoredVariables {
  readonly #store: ThreadStore;

  constructor(store: ThreadStore) {
    this.#store = store;
  }

  /**
   * Sets a variable of a thread, a user (the `userId` of threads) or the instance; the thread need not exist yet. A new
   * one is a secret unless `type` is `text`. Throws `InvalidVariable`, `ThreadTerminated`, `InvalidConfiguration`.
   */
  async setEnv(
    owner: EnvOwner,
    name: string,
    value: string,
    options: { type?: EnvType } = {},
  ): Promise<void> {
    await this.#store.env.set({ owner, name, value, type: options.type });
  }

  /** Variables of this owner by name; without the values of secrets. */
  async listEnv(owner: EnvOwner): Promise<readonly EnvEntry[]> {
    return this.#store.env.list(owner);
  }

  /** What a thread may read, without values: names, types and sources, by name. Throws `ThreadNotFound`. */
  async listThreadEnv(threadId: string): Promise<readonly ThreadVariable[]> {
    const { userId } = await requireThread(this.#store, threadId);
    return this.#store.env.ofThread(threadId, userId);
  }

  /** False when it did not exist. */
  async unsetEnv(owner: EnvOwner, name: string): Promise<boolean> {
    return this.#store.env.unset(owner, name);
  }

  /** What a subagent needs to start; `childId` is its thread once created. Throws `VariableRequestNotFound`. */
  async getVariableRequest(requestId: string): Promise<VariableRequest> {
    const request = await this.#store.variableRequests.get(requestId);
    if (request) return request;
    throw requestNotFound(requestId);
  }

  /** The pending requests of a thread's subagents, oldest first. Throws `ThreadNotFound`. */
  async listVariableRequests(threadId: string): Promise<readonly VariableRequest[]> {
    await requireThread(this.#store, threadId);
    return this.#store.variableRequests.list(threadId);
  }
}
