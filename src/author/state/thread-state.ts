/**
 * Builds the ThreadState that author code receives from its parts. What differs between a tool, a hook, an effect and
 * an endpoint is defined by the caller's context.
 *
 * Derives the state of a parent or child from the state of a thread (definitions §14.3).
 * - A relative is shown at rest: without its execution, scratch and tool call.
 * - What is queued to a relative goes to its own queue, and wakes it.
 * - Known secrets belong to the code, not to a thread. What it reads in one thread is removed from what it writes to
 *   another.
 * - Each time a relative is opened, what is created through it gets other ids, which are equal in every attempt.
 * - A tool's `uses` also restrict what it reaches through a relative.
 * - Values belong to the thread's own code (runtime §14.1.3), so a state knows whose code it was opened for.
 * - Once the code has terminated its own thread, it queues and runs nothing in a relative either (runtime §10).
 */
import { types } from 'node:util';
import { checkPage } from '../../core/author/read-options.ts';
import type { Registry, ToolDefinition } from '../../core/author/registry.ts';
import type { ThreadEffects } from '../../core/author/thread-effect.ts';
import type { ExecutionState } from '../../core/author/thread-execution.ts';
import type { ThreadLoaders, ThreadState } from '../../core/author/thread-state.ts';
import type { ThreadValues } from '../../core/author/thread-value.ts';
import { asWritten } from '../../core/author/written-definition.ts';
import type { EventData } from '../../core/event/thread-event.ts';
import type { FileContent, ThreadFiles } from '../../core/file/thread-file.ts';
import { contextOf } from '../../core/governance/run-context.ts';
import { findActiveSide } from '../../core/project/active-side.ts';
import { copyBytes } from '../../core/value/bytes.ts';
import { RuntimeError } from '../../core/value/error.ts';
import { toJsonObject } from '../../core/value/json-value.ts';
import { LIMITS, utf8Length } from '../../core/value/limit.ts';
import { readWholeFile, streamFile } from '../../store/file/file-content.ts';
import type { ThreadStore } from '../../store/store.ts';
import type { ThreadRecord } from '../../store/thread/thread-record.ts';
import { openLife } from '../guard/life.ts';
import { NO_HOOKS } from '../hooks/message-hook-port.ts';
import { createQuestions } from '../policy/ask.ts';
import { createOwnActions } from '../policy/own-action.ts';
import { freezeDeep } from '../tool/freeze-deep.ts';
import { toReadOnly } from '../tool/read-only.ts';
import type { CallerContext, StateParts } from './caller-context.ts';
import type { StateDependencies } from './dependencies.ts';
import { createFamily, loadChildren } from './family.ts';
import { createIds } from './id.ts';
import { createMessages } from './messages.ts';
import type { RunningExecution } from './running-execution.ts';
import type { ThreadEnv } from './thread-env.ts';
import { createTools } from './tools.ts';

export function createThreadState(
  dependencies: StateDependencies,
  given: CallerContext,
  { env, runCode }: StateParts,
): ThreadState {
  const { store } = dependencies;
  const caller = { ...given, signal: AbortSignal.any([given.signal, given.life.signal]) };
  const { thread, tool, execution } = caller;
  const registry = dependencies.registry();
  const nextId = createIds(store, caller.key);
  const open = (relative: ThreadRecord, times: number) =>
    openRelative(dependencies, { ...caller, parts: { env, runCode } }, relative, times);
  const lifecycle = createLifecycle(store, caller);
  const optionsOf = readOptions(registry, caller);
  const state: ThreadState = {
    threadId: thread.id,
    agentId: thread.agent,
    userId: thread.userId,
    createdAt: thread.createdAt,
    get terminated() {
      return lifecycle.terminatedAt();
    },
    arguments: freezeDeep({ ...thread.arguments, ...execution?.subprompt?.arguments }),
    context: execution?.flow.scratch ?? {},
    execution: createExecution(registry, caller),
    idempotencyKey: caller.idempotencyKey ?? null,
    options: optionsOf(tool),
    emit: createEmitter(store, thread.id, env.redactKnown),
    getLogs: async (options) => store.events.getLogs(thread.id, checkPage(options)),
    runCode,
    _notPackableRuntimeContext: Object.freeze({ runtime: 'everthread' }),
    ...createMessages({ store, caller, nextId, redactKnown: env.redactKnown }),
    ...createTools({ store, registry, env, nextId, optionsOf, state: () => state }, caller),
    ...createOwnActions({ store, registry, env }, caller),
    ...createEffects({ store, registry, nextId, redactKnown: env.redactKnown }, caller),
    ...createThreadValues(store, caller),
    ...createThreadFiles(store, thread.id, env.redactKnown),
    ...createQuestions(caller.ask),
    ...createLoaders(registry),
    ...createFamily({ store, nextId, redactKnown: env.redactKnown, open }, caller),
    terminate: lifecycle.terminate,
    ...env.bind(tool),
  };
  const user = tool ?? caller.reachingTool;
  return user?.parallel ? toReadOnly(state, user) : Object.freeze(state);
}

/** Opens the ThreadState of a parent or child, for code that has its own: shown at rest, even if that thread runs. */
export async function openRelative(
  dependencies: StateDependencies,
  from: RelativeFrom,
  thread: ThreadRecord,
  times = 0,
): Promise<ThreadState> {
  // It ends with the code's own thread.
  const life = openLife(from.life);
  const { signal, hooksOf, tool, reachingTool = tool, reachedFrom = from.thread.id } = from;
  const parts: StateParts = { ...from.parts, env: from.parts.env.of(thread) };
  // Other ids each time. L2: its own queue.
  const relative = {
    thread,
    key: `${from.key}:${thread.id}:${times}`,
    signal,
    life,
    work: from.work.reach(thread.id),
  };
  const hooks = hooksOf?.({ ...relative, parts }) ?? NO_HOOKS;
  const children = await loadChildren(dependencies.store, thread);
  // `reachedFrom` remains the thread whose code it is, however many relatives it passes through.
  const caller = { ...relative, hooks, hooksOf, reachingTool, reachedFrom, execution: null, children };
  return createThreadState(dependencies, caller, parts);
}

/** Returns a function that returns the options of a tool's entry in the active prompt. */
function readOptions(registry: Registry, { thread, execution }: CallerContext) {
  const prompt = execution?.prompt ?? findActiveSide(registry, thread.agent, thread.session.side)?.prompt;
  return (tool: ToolDefinition | undefined): ThreadState['options'] =>
    prompt?.tools.find(({ name }) => name === tool?.name)?.options ?? {};
}

/** Returns `emit`, which writes events in order and drops those that cannot be written. */
function createEmitter(
  store: ThreadStore,
  threadId: string,
  redactKnown: ThreadEnv['redactKnown'],
): ThreadState['emit'] {
  let last: Promise<unknown> = Promise.resolve();
  return (event, data) => {
    const shown = redactKnown(toShown(event, data));
    if (shown) last = last.then(() => store.events.append(threadId, shown)).catch(() => undefined);
  };
}

/** Copies the data at once, since the author may change it before it is written. */
function toShown(event: string, data: unknown) {
  try {
    const name = String(event).slice(0, 128);
    const text = JSON.stringify({ event: name, data: data ?? null });
    const bytes = utf8Length(text);
    if (bytes > LIMITS.emittedBytes)
      return { type: 'custom' as const, data: { event: name, data: null, omitted: bytes } };
    return { type: 'custom' as const, data: JSON.parse(text) as EventData['custom'] };
  } catch {
    return undefined;
  }
}

/** `state.execution` (definitions §14.1): the state of the running execution, and the controls of its flow. */
function createExecution(registry: Registry, caller: CallerContext): ExecutionState | null {
  const { execution, thread, signal } = caller;
  if (!execution) return null;
  const { flow, executionId, stepCount, sideSteps, side, history, runContext } = execution;
  const place = { executionId, rootId: thread.rootId, agent: thread.agent };
  return Object.freeze({
    flowId: executionId,
    currentSide: side,
    stepCount,
    sideAStepCount: sideSteps.a,
    sideBStepCount: sideSteps.b,
    get stopped() {
      return flow.directive === 'stop';
    },
    get stoppedBy() {
      return flow.directive === 'stop' ? side : undefined;
    },
    messageHistory: history,
    context: freezeDeep(runContext ?? contextOf({}, place)),
    promptPath: promptPath(registry, thread.agent, execution),
    abortSignal: signal,
    throwIfCancelled: () => signal.throwIfAborted(),
    forceTurn(side) {
      if (side !== 'a' && side !== 'b') throw new TypeError('forceTurn takes "a" or "b".');
      flow.directive = side;
    },
    stop() {
      flow.directive = 'stop';
    },
  } satisfies ExecutionState);
}

function promptPath(registry: Registry, agent: string, { side, subprompt }: RunningExecution): string[] {
  const own = findActiveSide(registry, agent, side)?.prompt.name;
  return [...(own === undefined ? [] : [own]), ...(subprompt?.path ?? [])];
}

/** ThreadState's lifecycle (definitions §14.3): terminates the thread, and returns when it was terminated. */
interface Lifecycle extends Pick<ThreadState, 'terminate'> {
  /** Time of the termination, as known when the state was opened or after its own `terminate()`; null if none. */
  terminatedAt(): number | null;
}

function createLifecycle(
  store: ThreadStore,
  { thread, work, life, key, execution, reachedFrom }: CallerContext,
): Lifecycle {
  let { terminatedAt } = thread;
  return {
    terminatedAt: () => terminatedAt,
    async terminate() {
      await work.terminate(execution && reachedFrom === undefined ? callOf(thread.id, key) : undefined);
      life.end();
      terminatedAt = (await store.threads.get(thread.id))?.terminatedAt ?? terminatedAt;
    },
  };
}

/** The call that the key of the work names; undefined for other work, such as a step's. */
function callOf(
  threadId: string,
  key: string,
): { readonly step: number; readonly index: number } | undefined {
  const [, step, index] =
    /^:(-?\d+):(\d+)/.exec(key.startsWith(threadId) ? key.slice(threadId.length) : '') ?? [];
  return step === undefined ? undefined : { step: Number(step), index: Number(index) };
}

/** ThreadState's loaders (definitions §14.4): definitions of the project, by name. */
function createLoaders(registry: Registry): ThreadLoaders {
  const { models, prompts, agents } = registry;
  return {
    loadModel: async (name) => asWritten(find('model', models, name)),
    loadPrompt: async (name) => asWritten(find('prompt', prompts, name)),
    loadAgent: async (name) => asWritten(find('agent', agents, name)),
    getModelNames: () => [...models.keys()],
    getPromptNames: () => [...prompts.keys()],
    getAgentNames: () => [...agents.keys()],
  };
}

function find<T>(what: string, known: ReadonlyMap<string, T>, name: string): T {
  const found = known.get(name);
  if (found !== undefined) return found;
  const names = [...known.keys()].map((each) => `"${each}"`).join(', ') || 'none';
  throw new RuntimeError(
    'DefinitionNotFound',
    `The project defines no ${what} "${String(name)}". It defines: ${names}.`,
  );
}

/**
 * ThreadState's key-value store (runtime §14), backed by the store, which copies values strictly as JSON
 * (core/value/json-value.ts). A thread's values are for its own code: access through the state of a relative is
 * refused, and so is access by a tool that is invoked through that state.
 */
function createThreadValues(
  store: ThreadStore,
  { thread: { id }, reachedFrom = id }: Pick<CallerContext, 'thread' | 'reachedFrom'>,
): ThreadValues {
  const requireOwn = (method: string): void => {
    if (reachedFrom !== id) throw notShared(method, id, reachedFrom);
  };
  return {
    async getValue<T>(key: string) {
      requireOwn('getValue');
      // Only the author knows the type of a key's value.
      return (await store.values.get(id, key)) as T | null;
    },
    async setValue(key, value) {
      requireOwn('setValue');
      await store.values.set(id, key, value);
    },
  };
}

function notShared(method: string, id: string, from: string): RuntimeError {
  return new RuntimeError(
    'ValuesNotShared',
    `${method}: values of thread "${id}" are accessible only to its own code, not to that of thread "${from}". ` +
      'Queue a message or a tool to it, or pass the data as a file.',
  );
}

interface RelativeFrom
  extends Pick<
    CallerContext,
    'thread' | 'key' | 'signal' | 'life' | 'work' | 'hooksOf' | 'tool' | 'reachingTool' | 'reachedFrom'
  > {
  readonly parts: StateParts;
}

/** One year: a longer delay is most likely a mistake of units. */
const MAX_DELAY_MS = 366 * 24 * 60 * 60 * 1000;

interface EffectsInput {
  readonly store: ThreadStore;
  readonly registry: Registry;
  readonly nextId: () => string;
  readonly redactKnown: ThreadEnv['redactKnown'];
}

/** ThreadState's effects (definitions §10), backed by the store. */
function createEffects(
  { store, registry, nextId, redactKnown }: EffectsInput,
  { thread, life, work }: CallerContext,
): ThreadEffects {
  return {
    async scheduleEffect(name, args = {}, delay = 0) {
      life.signal.throwIfAborted();
      if (!registry.effects.has(name)) throw unknownEffect(registry, name);
      const id = nextId();
      const effect = {
        id,
        name,
        args: redactKnown(
          toJsonObject(args, { name: `arguments of "${name}"`, maxBytes: LIMITS.effectArgumentBytes }),
        ),
        delayMs: checkDelay(name, delay),
      };
      await work.wakeForEffects(await store.effects.schedule(thread.id, effect));
      return id;
    },
    getScheduledEffects: async (name) =>
      store.effects.list(thread.id, name === undefined ? undefined : String(name)),
    removeScheduledEffect: (id) => store.effects.remove(thread.id, String(id)),
  };
}

function checkDelay(name: string, delay: unknown): number {
  if (typeof delay === 'number' && delay >= 0 && delay <= MAX_DELAY_MS) return delay;
  throw new RuntimeError(
    'InvalidValue',
    `The delay of the effect "${name}" must be a number of milliseconds from 0 to ${MAX_DELAY_MS} (a year), not ${String(delay)}.`,
  );
}

function unknownEffect({ effects }: Registry, name: string): RuntimeError {
  const known = [...effects.keys()].map((each) => `"${each}"`).join(', ') || 'none';
  return new RuntimeError(
    'EffectNotFound',
    `The project defines no effect "${String(name)}". It defines: ${known}.`,
  );
}

/**
 * ThreadState's files (definitions §18), backed by the store: converts authors' content to and from bytes.
 * `redactKnown` removes secrets from paths: the same path still leads to the same file, under a name that may be
 * shown.
 */
export function createThreadFiles(
  store: ThreadStore,
  threadId: string,
  redactKnown: <T>(value: T) => T = (value) => value,
): ThreadFiles {
  return {
    writeFile: async (path, data, mimeType, { thumbnail, ...options } = {}) =>
      store.files.write(threadId, {
        ...redactKnown(options),
        path: redactKnown(path),
        mimeType,
        content: toBytes('data', data),
        thumbnail: thumbnail && toBytes('thumbnail', thumbnail),
      }),
    readFile: (path) => readWholeFile(store, threadId, redactKnown(path)),
    readFileStream: (path, options) => streamFile(store, threadId, redactKnown(path), options?.signal),
    statFile: (path) => store.files.stat(threadId, redactKnown(path)),
    readdirFile: (path) => store.files.readdir(threadId, redactKnown(path)),
    unlinkFile: (path) => store.files.unlink(threadId, redactKnown(path)),
    mkdirFile: (path) => store.files.mkdir(threadId, redactKnown(path)),
    rmdirFile: (path) => store.files.rmdir(threadId, redactKnown(path)),
    getFileStats: () => store.files.getStats(threadId),
    grepFiles: (pattern) => store.files.grep(threadId, pattern),
    findFiles: (pattern) => store.files.find(threadId, pattern),
    getFileThumbnail: async (path) => {
      const bytes = await store.files.getThumbnail(threadId, redactKnown(path));
      return bytes && (bytes.buffer as ArrayBuffer);
    },
  };
}

/** Returns a copy, since the author's buffer may change while it is written. */
function toBytes(name: string, data: FileContent): Uint8Array {
  if (typeof data === 'string') return new TextEncoder().encode(data);
  // Not by `instanceof`: the buffer may come from another realm.
  if (ArrayBuffer.isView(data) || types.isAnyArrayBuffer(data)) return copyBytes(data);
  throw new RuntimeError(
    'InvalidValue',
    `${name} must be the content of a file: a string, an ArrayBuffer or a view of one.`,
  );
}
