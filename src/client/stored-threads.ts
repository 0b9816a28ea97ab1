/**
 * Reads and writes of threads that need only the store: no server, no worker. A thread that is not in the store yet may
 * be found by its acceptance (accepted-thread.ts).
 */

import {
  checkChanges,
  checkCountThreads,
  checkExecutionPage,
  checkFollow,
  checkMessagePage,
  checkModelCallPage,
  checkPage,
  checkThreadPage,
  checkValuePage,
  checkWaitPage,
} from '../core/author/read-options.ts';
import type { ScheduledEffect } from '../core/author/thread-effect.ts';
import type { GetLogsOptions, Log } from '../core/author/thread-log.ts';
import type { GetMessagesOptions, MessagePage } from '../core/author/thread-message.ts';
import type { ThreadEvent } from '../core/event/thread-event.ts';
import type { FileChunk, FileRecord, FindResult, ReaddirResult } from '../core/file/thread-file.ts';
import type { BudgetLine } from '../core/governance/budget-line.ts';
import type { Message } from '../core/message/message.ts';
import { checkFields, type MessageFields } from '../core/message/message-fields.ts';
import { parseTags } from '../core/thread/tags.ts';
import { RuntimeError } from '../core/value/error.ts';
import { checkFollowForm, type FollowAs, type FormEvents, type LogForm } from '../projections/log-form.ts';
import type { Projected } from '../projections/projection.ts';
import type { ExecutionRecord, ListExecutions } from '../store/execution/execution-record.ts';
import type { FamilyMember } from '../store/family/family-record.ts';
import { readWholeFile, streamFile } from '../store/file/file-content.ts';
import type { ListModelCalls, ModelCallRecord, ShownRequest } from '../store/request/request-record.ts';
import type { ThreadStore } from '../store/store.ts';
import type {
  ChangedThread,
  CountThreads,
  ListThreads,
  ThreadChanges,
  ThreadCounts,
  ThreadRecord,
} from '../store/thread/thread-record.ts';
import type { ListValues, StoredValue } from '../store/value/value-record.ts';
import type { ListWaits, Wait } from '../store/wait/wait-record.ts';
import { waitNotFound } from './answer-wait.ts';
import { type AwaitChanges, type FollowChanges, followChanges } from './follow-changes.ts';
import { type FollowOptions, followEvents } from './follow-events.ts';
import { followForm } from './follow-run.ts';
import { type FindThread, requireExecution, requireThread } from './known-thread.ts';
import { listManifests, type RequestManifest } from './stored-manifests.ts';

/** The files of a thread, with the operations of ThreadState (definitions §18). */
export interface StoredFiles {
  stat(path: string): Promise<FileRecord | null>;
  readdir(path: string): Promise<ReaddirResult>;
  read(path: string): Promise<ArrayBuffer | null>;
  readStream(
    path: string,
    options?: { readonly signal?: AbortSignal },
  ): Promise<AsyncIterable<FileChunk> | null>;
  find(pattern: string): Promise<FindResult>;
  /**
   * Writes a file, replacing one at the same path; repeating it changes nothing. Throws `ThreadNotFound`, also until a
   * worker has opened the thread, `ThreadTerminated`, `InvalidPath`, `InvalidValue` (the type), `FileConflict` (a
   * directory is there), `LimitExceeded` (100 MiB).
   */
  write(file: FileToWrite): Promise<FileRecord>;
  /** False if there is no such file. Throws as `write` does. */
  remove(path: string): Promise<boolean>;
}

/** A file to write. */
export interface FileToWrite {
  readonly path: string;
  /** Bytes, or a stream: memory use does not grow with its size, and a stream that breaks off leaves no file. */
  readonly content: Uint8Array | AsyncIterable<Uint8Array>;
  readonly mimeType: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export interface StoredValues {
  get(key: string): Promise<unknown>;
  /** Ordered by key; 100 unless `limit` is given. */
  list(options?: ListValues): Promise<readonly StoredValue[]>;
}

export class StoredThreads {
  readonly #store: ThreadStore;
  readonly #accepted: FindThread | undefined;

  constructor(store: ThreadStore, accepted?: FindThread) {
    this.#store = store;
    this.#accepted = accepted;
  }

  /** Throws `ThreadNotFound`. */
  async getThread(threadId: string): Promise<ThreadRecord> {
    return this.conceal(await this.findThread(threadId));
  }

  /** The record as the store has it: its words are not fit to be shown. Throws `ThreadNotFound`. */
  findThread(threadId: string): Promise<ThreadRecord> {
    return requireThread(this.#store, threadId, this.#accepted);
  }

  /** The record with words that have no secrets of the store. */
  async conceal(thread: ThreadRecord): Promise<ThreadRecord> {
    const [shown = thread] = await this.#store.threads.conceal([thread]);
    return shown;
  }

  /** The thread with all its descendants, each after its parent. Throws `ThreadNotFound`. */
  async getFamily(threadId: string): Promise<readonly FamilyMember[]> {
    const thread = await this.findThread(threadId);
    const stored = await this.#store.family.read(threadId);
    const family = stored.length > 0 ? stored : [{ thread, child: null, depth: 0 }];
    const shown = await this.#store.threads.conceal(family.map((member) => member.thread));
    return family.map((member, index) => ({ ...member, thread: shown[index] ?? member.thread }));
  }

  /** Budget lines of the running execution, else of the newest one. Throws `ThreadNotFound`. */
  async getBudget(threadId: string): Promise<readonly BudgetLine[]> {
    await this.findThread(threadId);
    return this.#store.budgets.read(threadId);
  }

  /** What each request to a model contained (stored-manifests.ts). Throws `ThreadNotFound`. */
  async listManifests(threadId: string): Promise<readonly RequestManifest[]> {
    await this.findThread(threadId);
    return listManifests(this.#store, threadId);
  }

  async listThreads(options?: ListThreads): Promise<readonly ThreadRecord[]> {
    return this.#store.threads.conceal(await this.#store.threads.list(checkThreadPage(options)));
  }

  async countThreads(options?: CountThreads): Promise<ThreadCounts> {
    return this.#store.threads.counts(checkCountThreads(options));
  }

  /** Returns at once if there are changes, else after `waitMs`. Throws `InvalidCursor`, `InvalidValue`. */
  async listChanges(options: AwaitChanges = {}): Promise<ThreadChanges> {
    const { waitMs = 0, signal, cursor, ...asked } = checkChanges(options);
    const until = performance.now() + waitMs;
    for (let from = cursor; ; ) {
      const withinMs = until - performance.now();
      const woken = new AbortController();
      const either = signal ? AbortSignal.any([signal, woken.signal]) : woken.signal;
      // Before the read: what that does not see ends the wait.
      const change =
        withinMs > 0 ? this.#store.threads.awaitChange({ withinMs, signal: either }) : Promise.resolve();
      const { threads, cursor: next } = await this.#store.threads
        .changes({ ...asked, cursor: from })
        .catch((error: unknown) => {
          woken.abort();
          throw error;
        });
      if (threads.length > 0 || withinMs <= 0 || signal?.aborted) {
        woken.abort();
        return { threads: await this.#concealAll(threads), cursor: next };
      }
      await change;
      from = next;
    }
  }

  async #concealAll(threads: readonly ChangedThread[]): Promise<readonly ChangedThread[]> {
    const records = threads.filter((thread) => 'agent' in thread);
    const shown = new Map((await this.#store.threads.conceal(records)).map((thread) => [thread.id, thread]));
    return threads.map((thread) => shown.get(thread.id) ?? thread);
  }

  /** Changes as they come, each page with the cursor behind it; ends with the signal. Throws as `listChanges` does. */
  changes(options: FollowChanges = {}): AsyncIterable<ThreadChanges> {
    return followChanges((asked) => this.listChanges(asked), options);
  }

  /** Replaces all tags of a thread. Throws `InvalidValue`, `ThreadNotFound`. */
  async setTags(threadId: string, given: readonly string[]): Promise<ThreadRecord> {
    const parsed = parseTags(given);
    if (!parsed.ok) throw new RuntimeError('InvalidValue', `The tags cannot be set: ${parsed.reason}.`);
    return this.conceal(await this.#store.threads.setTags(threadId, parsed.tags));
  }

  /** Throws `MessageNotFound`, `ThreadNotFound`, `ThreadTerminated`, and for metadata `InvalidValue` or `LimitExceeded`. */
  async updateMessage(threadId: string, id: string, updates: MessageFields): Promise<Message> {
    await this.findThread(threadId);
    return this.#store.messages.update(threadId, id, checkFields(updates));
  }

  /** False if there is no such message. Throws `MessageConflict`, `ThreadNotFound`, `ThreadTerminated`. */
  async deleteMessage(threadId: string, id: string): Promise<boolean> {
    await this.findThread(threadId);
    return this.#store.messages.delete(threadId, id);
  }

  /** The newest execution unless an id is given. Throws `ThreadNotFound`, `ExecutionNotFound`. */
  async getExecution(threadId: string, executionId?: string): Promise<ExecutionRecord> {
    await this.findThread(threadId);
    return requireExecution(this.#store, threadId, executionId);
  }

  async listExecutions(options?: ListExecutions): Promise<readonly ExecutionRecord[]> {
    return this.#store.executions.list(checkExecutionPage(options));
  }

  /** Stored messages, then pending ones (`metadata.queued`). */
  async getMessages(threadId: string, options?: GetMessagesOptions): Promise<MessagePage> {
    checkMessagePage(options);
    await this.findThread(threadId);
    return this.#store.messages.list(threadId, options);
  }

  async getMessage(threadId: string, id: string): Promise<Message | null> {
    return this.#store.messages.get(threadId, id);
  }

  /** Model calls with usage and cost, tool calls, executions, and the thread's life (runtime §12). */
  async getLogs(threadId: string, options?: GetLogsOptions): Promise<Log[]> {
    checkPage(options);
    await this.findThread(threadId);
    return this.#store.events.getLogs(threadId, options);
  }

  /** Requests to models, by step, attempt and number, in either order. Throws `ThreadNotFound`, `InvalidValue`. */
  async listModelCalls(threadId: string, options?: ListModelCalls): Promise<readonly ModelCallRecord[]> {
    checkModelCallPage(options);
    await this.findThread(threadId);
    return this.#store.modelCalls.list(threadId, options);
  }

  /** What a model was sent. Throws `ThreadNotFound`, `ModelCallNotFound`, `RequestRemoved`. */
  async getRequest(threadId: string, callId: string): Promise<ShownRequest> {
    await this.findThread(threadId);
    return this.#store.modelCalls.readRequest(threadId, callId);
  }

  /** The thread's events after a number, oldest first; follows the log unless `follow` is false. */
  events(threadId: string, options: FollowOptions = {}): AsyncIterable<ThreadEvent> {
    return followEvents(this.#store, threadId, checkFollow(options));
  }

  /**
   * Events of a form, each with its cursor. Throws `ThreadNotFound`; `ExecutionNotFound` for an unknown run.
   */
  formEvents<Form extends LogForm>(
    threadId: string,
    options: FollowAs<Form> & { readonly agentId?: string },
  ): AsyncIterable<Projected<FormEvents[Form]>> {
    return followForm(this.#store, threadId, checkFollowForm(options), this.#accepted);
  }

  /**
   * Open waits unless a state is given, oldest first unless `order` is `desc`: of all threads, or of one thread and, if it is a root, its
   * family. Throws `InvalidValue`.
   */
  async listWaits(options?: ListWaits): Promise<readonly Wait[]> {
    return this.#store.waits.list(checkWaitPage(options));
  }

  /** Throws `WaitNotFound`. */
  async getWait(id: string): Promise<Wait> {
    const wait = await this.#store.waits.get(id);
    if (!wait) throw waitNotFound(id);
    return wait;
  }

  /** Pending effects, of one name or of all, the next due first. A thread that does not exist has none. */
  async listEffects(threadId: string, name?: string): Promise<ScheduledEffect[]> {
    return this.#store.effects.list(threadId, name);
  }

  /** True only if the effect was still pending and now never fires. Throws `ThreadNotFound`. */
  async removeEffect(threadId: string, id: string): Promise<boolean> {
    return this.#store.effects.remove(threadId, id);
  }

  /** The files of a thread. A thread that does not exist has none. */
  files(threadId: string): StoredFiles {
    const store = this.#store;
    return {
      stat: (path) => store.files.stat(threadId, path),
      readdir: (path) => store.files.readdir(threadId, path),
      read: (path) => readWholeFile(store, threadId, path),
      readStream: (path, { signal } = {}) => streamFile(store, threadId, path, signal),
      find: (pattern) => store.files.find(threadId, pattern),
      write: ({ path, content, mimeType, metadata }) =>
        store.files.write(threadId, { path, content, mimeType, metadata }),
      async remove(path) {
        if (!(await store.files.stat(threadId, path))) return false;
        await store.files.unlink(threadId, path);
        return true;
      },
    };
  }

  /** The key-value store of a thread, for reading. */
  values(threadId: string): StoredValues {
    const store = this.#store;
    return {
      get: (key) => store.values.get(threadId, key),
      list: async (options) => store.values.list(threadId, checkValuePage(options)),
    };
  }
}
