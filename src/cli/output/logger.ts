/**
 * The log of worker and dev, on standard error: one line per entry, as text or JSON (`EVERTHREAD_LOG=debug,json`).
 * - Temporal's own entries below WARN appear only with trace: they rarely concern people who run agents.
 * - Foreign text cannot forge lines or control the terminal.
 * - Repeated warnings and errors are written a few times, then only counted (`log-flood.ts`). At the levels debug and
 *   trace all are written.
 * - On a terminal with colours, errors and lines that need a person to act are red, warnings yellow.
 */
import { type Configuration, type LogLevel, readConfiguration } from '../../configuration.ts';
import { errorMessage } from '../../core/value/error.ts';
import { escapeControls } from '../../core/value/shown-text.ts';
import type { SupervisorNews } from '../../supervisor/index.ts';
import { INTERVAL_MS, LogFlood } from './log-flood.ts';
import { note, tone } from './output.ts';

type TemporalLevel = Uppercase<LogLevel>;
type Metadata = Readonly<Record<string | symbol, unknown>>;
type Log = (message: string, metadata?: Metadata) => void;

export interface WorkerLogger {
  log(level: TemporalLevel, message: string, metadata?: Metadata): void;
  trace: Log;
  debug: Log;
  info: Log;
  warn: Log;
  error: Log;
}

/** Metadata key: true if a person must act. */
export const ACTION_REQUIRED = Symbol('act');
/** Metadata key: true if the message says what the fields contain; a text line then shows only those that locate it. */
export const FIELDS_IN_MESSAGE = Symbol('told');
const LOCATING_FIELDS = ['agent', 'threadId', 'step'];

const LEVELS: readonly TemporalLevel[] = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR'];
/** Fields that text lines omit: the part of the SDK, and what every entry of a worker repeats. */
const OMITTED_FIELDS = [
  'sdkComponent',
  'taskQueue',
  'namespace',
  'isLocal',
  'timestampNanos',
  'taskToken',
  'activityId',
  'workflowRunId',
  'runId',
  'workflowType',
  'durationMs',
];
const INFO = LEVELS.indexOf('INFO');
const VALUE_LENGTH = 300;
/** Characters shown of a stack: enough to reach the author's files below the frames of what they call. */
const STACK_LENGTH = 4000;

export function createLogger(
  { level, format }: Configuration['log'],
  write: (line: string) => void = (line) => process.stderr.write(`${line}\n`),
  intervalMs = INTERVAL_MS,
): WorkerLogger {
  const least = LEVELS.indexOf(level.toUpperCase() as TemporalLevel);
  const toText = format === 'json' ? toJsonLine : toTextLine;
  const isNews = least <= 1 ? () => true : countRepeats(toText, write, intervalMs);
  const log: WorkerLogger['log'] = (entryLevel, message, metadata = {}) => {
    const rank = LEVELS.indexOf(entryLevel);
    if (rank < least || (least > 0 && isSdkNoise(rank, metadata))) return;
    // Entries up to INFO are never suppressed.
    if (rank > INFO && !isNews(entryLevel, message, metadata)) return;
    write(toText(entryLevel, message, metadata, least <= 1));
  };
  const at =
    (entryLevel: TemporalLevel): Log =>
    (message, metadata) =>
      log(entryLevel, message, metadata);
  return {
    log,
    trace: at('TRACE'),
    debug: at('DEBUG'),
    info: at('INFO'),
    warn: at('WARN'),
    error: at('ERROR'),
  };
}

/** Counts are written when their interval is over, or the process ends. */
function countRepeats(toText: typeof toTextLine, write: (line: string) => void, intervalMs: number) {
  const flood = new LogFlood(intervalMs);
  let timer: NodeJS.Timeout | undefined;
  const writeCounts = (now?: number) => {
    for (const { level, message, ...counts } of flood.collect(now))
      write(toText(level as TemporalLevel, `More of the same: ${message}`, counts, false));
  };
  const writeLastCounts = () => writeCounts();
  const writeDueCounts = () => {
    timer = undefined;
    writeCounts(performance.now());
    if (flood.holds) wake();
    else process.off('exit', writeLastCounts);
  };
  const wake = () => {
    timer = setTimeout(writeDueCounts, intervalMs).unref();
  };
  return (level: TemporalLevel, message: string, metadata: Metadata): boolean => {
    const part = metadata.sdkComponent === undefined ? undefined : String(metadata.sdkComponent);
    const isTold = flood.admit({ level, message, part, thread: threadOf(metadata) }, performance.now());
    if (!isTold && timer === undefined) {
      process.once('exit', writeLastCounts);
      wake();
    }
    return isTold;
  };
}

/** Returns the thread's id, or the run id: some of the SDK's entries have nothing else. */
function threadOf({ workflowId, threadId, workflowExecution, runId, run_id: coreRunId }: Metadata) {
  const execution = (workflowExecution ?? {}) as { readonly workflowId?: unknown };
  const id = workflowId ?? threadId ?? execution.workflowId ?? runId ?? coreRunId;
  return id === undefined ? undefined : String(id);
}

/** True for Temporal's own entries below WARN; those of `workflow` and `activity` are ours. */
function isSdkNoise(rank: number, { sdkComponent }: Metadata): boolean {
  return rank < LEVELS.indexOf('WARN') && (sdkComponent === 'worker' || sdkComponent === 'core');
}

function toTextLine(level: TemporalLevel, message: string, metadata: Metadata, everything: boolean): string {
  const fields = Object.entries(metadata)
    .filter(([name, value]) => value !== undefined && (everything || isShown(name, metadata)))
    .map(
      ([name, value]) =>
        ` ${name}=${toText(value, everything, name === 'stack' ? STACK_LENGTH : VALUE_LENGTH)}`,
    );
  const time = new Date().toISOString();
  return colourByLevel(`${time} ${level.padEnd(5)} ${oneLine(message)}`, level, metadata) + fields.join('');
}

function isShown(name: string, metadata: Metadata): boolean {
  return metadata[FIELDS_IN_MESSAGE] === true
    ? LOCATING_FIELDS.includes(name)
    : !OMITTED_FIELDS.includes(name);
}

/** Colours the text by its level. */
function colourByLevel(text: string, level: TemporalLevel, metadata: Metadata): string {
  if (level === 'ERROR' || metadata[ACTION_REQUIRED] === true) return tone('red', text, process.stderr);
  return level === 'WARN' ? tone('yellow', text, process.stderr) : text;
}

function toText(value: unknown, everything: boolean, length: number): string {
  if (value instanceof Error)
    return JSON.stringify(everything ? (value.stack ?? value.message) : errorText(value));
  if (typeof value === 'string')
    return /^[\w.:/@-]+$/.test(value) ? value : JSON.stringify(truncate(value, length));
  return truncate(toJson(value) ?? String(value), length);
}

function toJsonLine(level: TemporalLevel, message: string, metadata: Metadata): string {
  const entry = { ...metadata, time: new Date().toISOString(), level, message };
  return toJson(entry) ?? JSON.stringify({ level, message });
}

function toJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value, (_key, each: unknown) => {
      if (typeof each === 'bigint') return String(each);
      return each instanceof Error ? { name: each.name, message: errorText(each), stack: each.stack } : each;
    });
  } catch {
    return undefined;
  }
}

/** Temporal wraps an activity's error: the message is in the cause. */
function errorText(error: Error): string {
  const cause = error.cause instanceof Error ? ` (${errorMessage(error.cause)})` : '';
  return oneLine(errorMessage(error) + cause);
}

/** Escapes control characters. */
function oneLine(text: string): string {
  return escapeControls(text).replaceAll('\n', '␊');
}

function truncate(text: string, length: number): string {
  const line = oneLine(text);
  return line.length <= length ? line : `${line.slice(0, length)}…`;
}

/** Logs what a supervisor reports about the process that it keeps running. `subject`: its name, such as `worker`. */
export function createNewsLogger(subject: string): (news: SupervisorNews) => void {
  const logger = createLogger(readConfiguration().log);
  const named = subject.charAt(0).toUpperCase() + subject.slice(1);
  return (news) => {
    if (news.kind === 'culprit') {
      const { code, name, threadId, work, stack } = news.culprit;
      const how = `${code} "${name}" crashed its ${subject} process: ${news.how}`;
      logger.error(how, { threadId, work, stack });
    } else if (news.kind === 'slow') {
      const seconds = Math.round(news.forMs / 1000);
      logger.info(`The ${subject} is starting, for ${seconds} s now: it is ${news.doing}`);
    } else {
      const { pid, how, againInMs } = news;
      logger.error(`${named} process ${pid} has ended (${how}): it is restarted in ${againInMs / 1000} s`);
    }
  };
}

interface Announcement {
  /** Sentence for people. */
  readonly text: string;
  /** Message for programs, with its fields. Default: `text`. */
  readonly message?: string;
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** Reports what a worker or `dev` does: as a sentence, or as a log line if the log's format is JSON. */
export function announce({ text, message = text, fields }: Announcement): void {
  const { log } = readConfiguration();
  if (log.format === 'json') createLogger(log).info(message, fields);
  else note(text);
}
