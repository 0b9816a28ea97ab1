/** Reads of threads that need only their store: no server, no worker. One that is not there yet may be known by its acceptance. */

import type { ScheduledEffect } from '../core/author/effect.ts';
import {
  checkExecutionPage,
  checkFollow,
  checkFollowRun,
  checkMessagePage,
  checkPage,
  checkThreadPage,
  checkValuePage,
  checkWaitPage,
} from '../core/author/read-options.ts';
import type { GetLogsOptions, Log } from '../core/author/thread-log.ts';
import type { GetMessagesOptions, MessagePage } from '../core/author/thread-message.ts';
import type { ThreadEvent } from '../core/event/thread-event.ts';
import type { FileChunk, FileRecord, FindResult, ReaddirResult } from '../core/file/thread-file.ts';
import type { BudgetLine } from '../core/governance/budget.ts';
import type { Message } from '../core/message/message.ts';
import { checkFields, type MessageFields } from '../core/message/message-fields.ts';
import { parseTags } from '../core/thread/tags.ts';
import { RuntimeError } from '../core/value/error.ts';
import type { RuntimeEvent } from '../projections/agenticx/agenticx-event.ts';
import type { Projected } from '../projections/projection.ts';
import type { TangleEvent } from '../projections/tangle/tangle-event.ts';
import { readWholeFile, streamFile } from '../store/port/file-content.ts';
import type {
  ExecutionRecord,
  FamilyMember,
  ListExecutions,
  ListThreads,
  ListWaits,
  ThreadRecord,
  ThreadStore,
  Wait,
} from '../store/port/thread-store.ts';
import type { ListValues, StoredValue } from '../store/port/value.ts';
import { waitNotFound } from './answer-wait.ts';
import { type FollowOptions, followEvents } from './follow-events.ts';
import {
  type FollowTangleOptions,
  type FollowTurnsOptions,
  followTangle,
  followTurns,
} from './follow-run.ts';
import { type FindThread, requireExecution, requireThread } from './known-thread.ts';
import { listManifests, type RequestManifest } from './stored-manifests.ts';

/** As in ThreadState (definitions §18). */
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
   * What was at the path is replaced; the same again changes nothing. Throws `ThreadNotFound`, also until a worker has opened the thread, `ThreadTerminated`,
   * `InvalidPath`, `InvalidValue` (the type), `FileConflict` (a directory is there), `LimitExceeded` (100 MiB).
   */
  write(file: FileToWrite): Promise<FileRecord>;
  /** False where there is none. Throws as `write`. */
  remove(path: string): Promise<boolean>;
}

/** A file as it is to be. */
export interface FileToWrite {
  readonly path: string;
  /** Bytes, or a stream of them: what is held of a stream does not grow with its size, and one that breaks off leaves nothing. */
  readonly content: Uint8Array | AsyncIterable<Uint8Array>;
  readonly mimeType: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export interface StoredValues {
  get(key: string): Promise<unknown>;
  /** By key; 100 unless given. */
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
    return requireThread(this.#store, threadId, this.#accepted);
  }

  /** The thread with all its descendants, each after its parent. Throws `ThreadNotFound`. */
  async getFamily(threadId: string): Promise<readonly FamilyMember[]> {
    const thread = await this.getThread(threadId);
    const family = await this.#store.family.read(threadId);
    return family.length > 0 ? family : [{ thread, child: null, depth: 0 }];
  }

  /** What the execution under way may spend, else the newest. Throws `ThreadNotFound`. */
  async getBudget(threadId: string): Promise<readonly BudgetLine[]> {
    await this.getThread(threadId);
    return this.#store.budgets.read(threadId);
  }

  /** What requests to models were made of. Throws `ThreadNotFound`. */
  async listManifests(threadId: string): Promise<readonly RequestManifest[]> {
    await this.getThread(threadId);
    return listManifests(this.#store, threadId);
  }

  async listThreads(options?: ListThreads): Promise<readonly ThreadRecord[]> {
    const { tag, order } = checkThreadPage(options) ?? {};
    if (tag !== undefined && order === 'updated')
      throw new RuntimeError(
        'InvalidValue',
        'Threads with a tag are listed by their creation: leave "order" out.',
      );
    return this.#store.threads.list(options);
  }

  /** Sets all of them. Throws `InvalidValue`, `ThreadNotFound`. */
  async setTags(threadId: string, given: readonly string[]): Promise<ThreadRecord> {
    const parsed = parseTags(given);
    if (!parsed.ok) throw new RuntimeError('InvalidValue', `The tags cannot be set: ${parsed.reason}.`);
    return this.#store.threads.setTags(threadId, parsed.tags);
  }

  /** Throws `MessageNotFound`, `ThreadNotFound`, `ThreadTerminated`, and for metadata `InvalidValue` or `LimitExceeded`. */
  async updateMessage(threadId: string, id: string, updates: MessageFields): Promise<Message> {
    await this.getThread(threadId);
    return this.#store.messages.update(threadId, id, checkFields(updates));
  }

  /** False where there is none. Throws `MessageConflict`, `ThreadNotFound`, `ThreadTerminated`. */
  async deleteMessage(threadId: string, id: string): Promise<boolean> {
    await this.getThread(threadId);
    return this.#store.messages.delete(threadId, id);
  }

  /** Without an id the newest. Throws `ThreadNotFound`, `ExecutionNotFound`. */
  async getExecution(threadId: string, executionId?: string): Promise<ExecutionRecord> {
    await this.getThread(threadId);
    return requireExecution(this.#store, threadId, executionId);
  }

  async listExecutions(options?: ListExecutions): Promise<readonly ExecutionRecord[]> {
    return this.#store.executions.list(checkExecutionPage(options));
  }

  /** Stored messages, then pending ones (`metadata.queued`). */
  async getMessages(threadId: string, options?: GetMessagesOptions): Promise<MessagePage> {
    checkMessagePage(options);
    await this.getThread(threadId);
    return this.#store.messages.list(threadId, options);
  }

  async getMessage(threadId: string, id: string): Promise<Message | null> {
    return this.#store.messages.get(threadId, id);
  }

  /** Model calls with usage and cost, tool calls, executions, and the thread's life (runtime §12). */
  async getLogs(threadId: string, options?: GetLogsOptions): Promise<Log[]> {
    checkPage(options);
    await this.getThread(threadId);
    return this.#store.events.getLogs(threadId, options);
  }

  /** The thread's events after a number, oldest first; follows the log unless `follow` is false. */
  events(threadId: string, options: FollowOptions = {}): AsyncIterable<ThreadEvent> {
    return followEvents(this.#store, threadId, checkFollow(options));
  }

  /** The same as AgenticX's RuntimeEvents, each with its cursor. Throws `ThreadNotFound`; for a run that is not there `ExecutionNotFound`. */
  turns(threadId: string, options: FollowTurnsOptions): AsyncIterable<Projected<RuntimeEvent>> {
    return followTurns(this.#store, threadId, checkFollowRun(options), this.#accepted);
  }

  /** The same in the words of Tangle's agent-runtime. For a run that is not there it throws `ExecutionNotFound`. */
  tangle(threadId: string, options: FollowTangleOptions): AsyncIterable<Projected<TangleEvent>> {
    return followTangle(this.#store, threadId, checkFollowRun(options) ?? {});
  }

  /** Open ones unless a state is given, oldest first: of all threads, or of a thread and, where it is a root, its family. Throws `InvalidValue`. */
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

  /** True only when the effect still waited and now never fires. Throws `ThreadNotFound`. */
  async removeEffect(threadId: string, id: string): Promise<boolean> {
    return this.#store.effects.remove(threadId, id);
  }

  /** The files of a thread. One that does not exist has none. */
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
