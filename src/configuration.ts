/**
 * Everthread's own settings, read from the environment once, by the composition root (worker, client, CLI). Temporal's
 * settings are read by `temporal-settings.ts`.
 */
import { availableParallelism, totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import { RuntimeError } from './core/value/error.ts';
import { LIMITS } from './core/value/limit.ts';
import { WALL_SETTINGS, type WallSetting } from './sandbox/host/wall/wall.ts';
import {
  configuredEnvironment,
  type Environment,
  givenVariables,
  storeAddress,
} from './secret-environment.ts';
import { type EncryptionKeys, parseKeys } from './store/crypto/encryption.ts';
import { DEFAULT_STORE } from './store/folder/default-store.ts';

export interface Configuration {
  /** `EVERTHREAD_STORE` */
  readonly store: string;
  /** `EVERTHREAD_TASK_QUEUE` */
  readonly taskQueue: string;
  /** `EVERTHREAD_HISTORY_SOFT_LIMIT`: events after which a thread continues as new. */
  readonly historySoftLimit: number;
  /** `EVERTHREAD_MODEL_HEARTBEAT_MS`: silence after which the worker of a model call counts as lost. */
  readonly modelHeartbeatMs: number;
  /** `EVERTHREAD_TOOL_HEARTBEAT_MS` */
  readonly toolHeartbeatMs: number;
  /** `EVERTHREAD_STEPS_PER_ACTIVITY`: most steps of one activity; 1: also each tool call is one of its own. */
  readonly stepsPerActivity: number;
  /** `EVERTHREAD_SECONDS_PER_ACTIVITY`: time after which an activity begins no further step. */
  readonly secondsPerActivity: number;
  /** `EVERTHREAD_STOP_WITHIN_MS`: longest time until a stop reaches work on another worker than that of the thread. */
  readonly stopWithinMs: number;
  /** `EVERTHREAD_STICKY_TIMEOUT_MS`: how long a thread waits for the worker that has it cached. */
  readonly stickyTimeoutMs: number;
  /** `EVERTHREAD_SCRIPT_TIMEOUT_MS`: longest time that a thread's workflow code may compute without yielding. */
  readonly scriptTimeoutMs: number;
  /** `EVERTHREAD_TOOL_GRACE_MS`: how long a worker that shuts down lets its tools finish. */
  readonly toolGraceMs: number;
  /** `EVERTHREAD_MODEL_GRACE_MS`: how long a worker that shuts down lets models finish their answers; 0: not at all. */
  readonly modelGraceMs: number;
  /** `EVERTHREAD_FAMILY_CALLS`: model calls of all that one execution of a root causes; 0: no ceiling. */
  readonly familyCalls: number;
  /** `EVERTHREAD_REQUESTS`: days for which requests to models are kept; 0: not at all, infinite: as long as their thread. */
  readonly requestDays: number;
  /** `EVERTHREAD_MAX_CONCURRENT_ACTIVITIES`: concurrent model calls and tools of one worker. */
  readonly maxConcurrentActivities: number;
  /**
   * `EVERTHREAD_CACHED_THREADS`: idle threads that a worker keeps in memory; others are replayed at their next signal.
   */
  readonly cachedThreads: number;
  /** `EVERTHREAD_SIGNALLED_CONTENT`: whether content of plain signals, updates and starts is taken or refused. */
  readonly signalledContent: 'take' | 'refuse';
  /**
   * `EVERTHREAD_DEPLOYMENT` and `EVERTHREAD_BUILD_ID`: the version under which a worker takes part in Temporal's Worker
   * Versioning; if absent, it does not.
   */
  readonly deployment: { readonly deploymentName: string; readonly buildId: string } | undefined;
  /** `EVERTHREAD_SANDBOX_SIZE`: concurrent programs (`runCode`) of one worker, each in a process. */
  readonly sandboxSize: number;
  /** `EVERTHREAD_SANDBOX_WALL`: how those processes are isolated. */
  readonly sandboxWall: WallSetting;
  /**
   * `EVERTHREAD_ENCRYPTION_KEYS`: `id:hex,…`, the keys that encrypt variables; if absent, those of the project's key
   * file.
   */
  readonly encryptionKeys: EncryptionKeys | undefined;
  /**
   * `EVERTHREAD_WATCHDOG_MS`: how long the event loop of a worker process may be blocked before the process is ended;
   * 0: unlimited.
   */
  readonly watchdogMs: number;
  /** `EVERTHREAD_DEV_PORT`: where `everthread dev` finds or starts a Temporal server; its Web UI is 1,000 above. */
  readonly devPort: number;
  /** `EVERTHREAD_API_TOKENS`: who may use the HTTP API (docs/http.md); if absent, only this machine. */
  readonly apiTokens: string | undefined;
  /** `EVERTHREAD_API_ORIGINS`: origins whose pages may call the HTTP API. */
  readonly apiOrigins: readonly string[];
  /** `EVERTHREAD_API_TRACES`: whether the `traceparent` of callers without a token is a link, or joined. */
  readonly apiTraces: 'link' | 'join';
  /** `EVERTHREAD_API_KEEP_ALIVE_MS`: how long the HTTP API keeps a connection between two requests. */
  readonly apiKeepAliveMs: number;
  /** `EVERTHREAD_PUBLIC_URL`: where clients reach the HTTP API, if that is behind a proxy. */
  readonly publicUrl: string | undefined;
  /** `EVERTHREAD_UI_URL`: address of Temporal's Web UI; if absent, that of the server which `everthread dev` uses. */
  readonly uiUrl: string | undefined;
  /** `EVERTHREAD_TRUSTED_PROXIES`: addresses and networks of proxies whose forwarded headers count. */
  readonly trustedProxies: readonly string[];
  /**
   * `EVERTHREAD_HEALTH`: `host:port` of a worker's health and metrics, or `off`; if absent, 127.0.0.1:9464 or a free
   * port.
   */
  readonly health: string | undefined;
  /** `EVERTHREAD_TEMPORAL_METRICS`: `host:port` where Temporal's SDK serves its own metrics; if absent, nowhere. */
  readonly temporalMetrics: string | undefined;
  /** `EVERTHREAD_TRACES`: whether a long execution is several traces (docs/observability.md). */
  readonly traces: 'parts' | 'execution';
  /** `EVERTHREAD_LOG`: `<level>[,json]` with level trace, debug, info, warn or error. */
  readonly log: { readonly level: LogLevel; readonly format: 'text' | 'json' };
}

const SIGNALLED_CONTENT = ['take', 'refuse'] as const;

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error';
const HIGHEST_DEV_PORT = 64_535;
const LOG_LEVELS: readonly LogLevel[] = ['trace', 'debug', 'info', 'warn', 'error'];

/** Throws `InvalidConfiguration` naming the variable. */
export function readConfiguration(given: Environment = configuredEnvironment()): Configuration {
  const environment = givenVariables(given);
  return {
    store: storeAddress(environment.EVERTHREAD_STORE ?? DEFAULT_STORE, environment.PGPASSWORD),
    taskQueue: environment.EVERTHREAD_TASK_QUEUE ?? 'everthread',
    // Below 50, a run would hardly complete one step before it continues as new.
    historySoftLimit: readNumber(environment, 'EVERTHREAD_HISTORY_SOFT_LIMIT', 2000, 50),
    modelHeartbeatMs: readNumber(environment, 'EVERTHREAD_MODEL_HEARTBEAT_MS', 5000, 1000),
    toolHeartbeatMs: readNumber(environment, 'EVERTHREAD_TOOL_HEARTBEAT_MS', 10_000, 1000),
    stepsPerActivity: readNumber(environment, 'EVERTHREAD_STEPS_PER_ACTIVITY', 20, 1),
    secondsPerActivity: readNumber(environment, 'EVERTHREAD_SECONDS_PER_ACTIVITY', 30, 1),
    stopWithinMs: readNumber(environment, 'EVERTHREAD_STOP_WITHIN_MS', 2000, 250),
    stickyTimeoutMs: readNumber(environment, 'EVERTHREAD_STICKY_TIMEOUT_MS', 1000, 100),
    // The SDK's own default, and half of a workflow task's ten seconds.
    scriptTimeoutMs: readNumber(environment, 'EVERTHREAD_SCRIPT_TIMEOUT_MS', 5000, 100),
    toolGraceMs: readNumber(environment, 'EVERTHREAD_TOOL_GRACE_MS', 10_000, 0),
    modelGraceMs: readNumber(environment, 'EVERTHREAD_MODEL_GRACE_MS', 10_000, 0),
    familyCalls: readNumber(environment, 'EVERTHREAD_FAMILY_CALLS', LIMITS.familyCalls, 0),
    requestDays: readRequestDays(environment),
    maxConcurrentActivities: readNumber(environment, 'EVERTHREAD_MAX_CONCURRENT_ACTIVITIES', 200, 1),
    // The SDK requires at least 2.
    cachedThreads: readNumber(
      environment,
      'EVERTHREAD_CACHED_THREADS',
      cachedThreadsFor(readMemoryLimits()),
      2,
    ),
    deployment: readDeployment(environment),
    // The sandbox's own default.
    sandboxSize: readNumber(environment, 'EVERTHREAD_SANDBOX_SIZE', Math.max(2, availableParallelism()), 1),
    sandboxWall: readOneOf(environment, 'EVERTHREAD_SANDBOX_WALL', WALL_SETTINGS),
    signalledContent: readOneOf(environment, 'EVERTHREAD_SIGNALLED_CONTENT', SIGNALLED_CONTENT),
    encryptionKeys: readKeys(environment.EVERTHREAD_ENCRYPTION_KEYS),
    watchdogMs: readNumber(environment, 'EVERTHREAD_WATCHDOG_MS', 10_000, 0),
    devPort: readDevPort(environment),
    apiTokens: environment.EVERTHREAD_API_TOKENS,
    apiOrigins: readList(environment.EVERTHREAD_API_ORIGINS),
    apiTraces: readOneOf(environment, 'EVERTHREAD_API_TRACES', ['link', 'join']),
    // Longer than the minute for which most balancers keep a connection.
    apiKeepAliveMs: readNumber(environment, 'EVERTHREAD_API_KEEP_ALIVE_MS', 65_000, 1000),
    publicUrl: environment.EVERTHREAD_PUBLIC_URL,
    uiUrl: environment.EVERTHREAD_UI_URL,
    trustedProxies: readList(environment.EVERTHREAD_TRUSTED_PROXIES),
    health: environment.EVERTHREAD_HEALTH,
    temporalMetrics: environment.EVERTHREAD_TEMPORAL_METRICS,
    traces: readTraces(environment),
    log: readLog(environment),
  };
}

/** The memory limit of the container, if any; 0, and limits above the machine's memory, mean that there is none. */
function readMemoryLimits() {
  const limit = process.constrainedMemory();
  const available = limit > 0 ? Math.min(limit, totalmem()) : totalmem();
  return { available, heapLimit: getHeapStatistics().heap_size_limit };
}

function readKeys(text: string | undefined): EncryptionKeys | undefined {
  return text === undefined ? undefined : parseKeys(text, 'EVERTHREAD_ENCRYPTION_KEYS');
}

function readRequestDays(environment: Environment): number {
  const { EVERTHREAD_REQUESTS: text = 'thread' } = environment;
  if (text === 'thread') return Number.POSITIVE_INFINITY;
  if (text === 'off') return 0;
  const days = Number(text);
  if (Number.isSafeInteger(days) && days >= 1) return days;
  throw new RuntimeError(
    'InvalidConfiguration',
    `EVERTHREAD_REQUESTS is "${text}": it must be "thread", "off", or a whole number of days, 1 or more.`,
  );
}

function readNumber(environment: Environment, name: string, fallback: number, minimum: number): number {
  const text = environment[name];
  if (text === undefined) return fallback;
  const value = Number(text);
  if (Number.isInteger(value) && value >= minimum) return value;
  throw new RuntimeError(
    'InvalidConfiguration',
    `${name} is "${text}": it must be a whole number of at least ${minimum}.`,
  );
}

function readList(text = ''): readonly string[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

function readDevPort(environment: Environment): number {
  const port = readNumber(environment, 'EVERTHREAD_DEV_PORT', 7233, 1024);
  if (port <= HIGHEST_DEV_PORT) return port;
  throw new RuntimeError(
    'InvalidConfiguration',
    `EVERTHREAD_DEV_PORT is "${port}": it must be at most ${HIGHEST_DEV_PORT}, for the Web UI is 1,000 above it.`,
  );
}

/** Also for whoever reads events with the ids of spans. */
export function readTraces(environment: Environment): Configuration['traces'] {
  return readOneOf(environment, 'EVERTHREAD_TRACES', ['parts', 'execution']);
}

/** The first choice is the default. */
function readOneOf<const Choice extends string>(
  environment: Environment,
  name: string,
  choices: readonly [Choice, ...Choice[]],
): Choice {
  const text = environment[name];
  const chosen = text === undefined ? choices[0] : choices.find((choice) => choice === text);
  if (chosen !== undefined) return chosen;
  throw new RuntimeError(
    'InvalidConfiguration',
    `${name} is "${text}": it must be one of ${choices.join(', ')}.`,
  );
}

function readDeployment({
  EVERTHREAD_DEPLOYMENT: deploymentName = '',
  EVERTHREAD_BUILD_ID: buildId = '',
}: Environment): Configuration['deployment'] {
  if (deploymentName === '' && buildId === '') return undefined;
  // Temporal joins the two with a dot.
  if (deploymentName !== '' && buildId !== '' && !deploymentName.includes('.'))
    return { deploymentName, buildId };
  throw new RuntimeError(
    'InvalidConfiguration',
    `EVERTHREAD_DEPLOYMENT is "${deploymentName}" and EVERTHREAD_BUILD_ID is "${buildId}": set both, the first without a dot, or neither.`,
  );
}

/** Reads `EVERTHREAD_LOG`. Throws `InvalidConfiguration`. */
export function readLog(environment: Environment, usual: LogLevel = 'info'): Configuration['log'] {
  const text = givenVariables(environment).EVERTHREAD_LOG ?? usual;
  const [level = 'info', format = 'text'] = text.split(',').map((part) => part.trim());
  if (!LOG_LEVELS.includes(level as LogLevel) || (format !== 'text' && format !== 'json')) {
    throw new RuntimeError(
      'InvalidConfiguration',
      `EVERTHREAD_LOG is "${text}": write a level (${LOG_LEVELS.join(', ')}), and ",json" for JSON lines.`,
    );
  }
  return { level: level as LogLevel, format };
}

/** Memory per idle cached thread: V8's objects and what the SDK's core keeps. `bench/threads.ts` measures it. */
export const BYTES_OF_A_CACHED_THREAD = 512 * 1024;
/** Share of the memory for the cache; the rest is for activities, the sandbox's children, and running threads. */
const SHARE_OF_MEMORY = 1 / 4;
/** Share of the workflow code's own heap, as large as the main thread's; the rest is for garbage collection. */
const SHARE_OF_HEAP = 1 / 2;
const MIN_THREADS = 100;
const MAX_THREADS = 10_000;

interface ProcessMemory {
  /** Memory of the machine, or of the container, in bytes. */
  readonly available: number;
  /** V8's limit for the size of a heap, in bytes. */
  readonly heapLimit: number;
}

/**
 * The default number of threads that a worker caches. A thread that is not cached is replayed from its history when it
 * is next signalled, so the cache trades memory for processor time; if it is too large, the process runs out of memory.
 */
export function cachedThreadsFor({ available, heapLimit }: ProcessMemory): number {
  const bytes = Math.min(available * SHARE_OF_MEMORY, heapLimit * SHARE_OF_HEAP);
  return Math.min(MAX_THREADS, Math.max(MIN_THREADS, Math.floor(bytes / BYTES_OF_A_CACHED_THREAD)));
}
