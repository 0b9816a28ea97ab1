/** Shows the outcome of a sandbox run: the result on standard output, everything else on standard error. */
import { inspect } from 'node:util';
import type {
  CodeExecutionError,
  CodeExecutionLog,
  CodeExecutionResult,
} from '../../core/author/code-execution.ts';
import { escapeControls } from '../../core/value/shown-text.ts';
import { toTaggedJson } from '../../core/value/tagged-json.ts';
import { note, printData, printLine, type Tone, tone } from './output.ts';

export interface RunSource {
  readonly source: string;
  readonly filename: string;
}

const MIB = 1024 * 1024;
/** Most bytes written and shown: values with shared parts can expand exponentially. */
const JSON_BYTES = 64 * MIB;
const SHOWN_BYTES = MIB;

/** Returns true if the program succeeded and its result was shown. */
export function showCodeResult(
  result: CodeExecutionResult,
  { json, ...source }: RunSource & { readonly json: boolean },
): boolean {
  if (json) return showJson(result);
  for (const log of result.logs) showLog(log);
  if (result.status === 'success') showValue(result.result);
  else showError(result.status, result.error, source);
  return result.status === 'success';
}

function showJson(result: CodeExecutionResult): boolean {
  const written = toTaggedJson(result, { maxBytes: JSON_BYTES });
  if (written.ok) {
    printData(JSON.parse(written.text));
    return result.status === 'success';
  }
  const message = `The result and reports of the program are longer than ${JSON_BYTES} bytes as JSON.`;
  const { durationMs, memoryUsedBytes } = result;
  printData({
    status: 'error',
    error: { name: 'TooLarge', message },
    reports: [],
    logs: [],
    durationMs,
    memoryUsedBytes,
  });
  return false;
}

function showValue(value: unknown): void {
  printLine(typeof value === 'string' ? escapeControls(value) : show(value, process.stdout));
}

const LEVEL_TONE: Readonly<Record<CodeExecutionLog['level'], Tone | undefined>> = {
  log: undefined,
  info: undefined,
  debug: 'dim',
  warn: 'yellow',
  error: 'red',
};

function showLog({ level, args }: CodeExecutionLog): void {
  const line = args
    .map((value) => (typeof value === 'string' ? escapeControls(value) : show(value, process.stderr)))
    .join(' ');
  const style = LEVEL_TONE[level];
  note(style === undefined ? line : tone(style, line, process.stderr));
}

/** Formats a value, bounded by the length of its JSON. `inspect` escapes control characters itself. */
function show(value: unknown, stream: NodeJS.WriteStream): string {
  if (!toTaggedJson(value, { maxBytes: SHOWN_BYTES }).ok) {
    return `(a value of more than ${SHOWN_BYTES} bytes: --json shows it)`;
  }
  const all = Number.POSITIVE_INFINITY;
  return inspect(value, {
    depth: all,
    maxArrayLength: all,
    maxStringLength: all,
    customInspect: false,
    colors: stream.isTTY && stream.hasColors(),
  });
}

function showError(
  status: string,
  error: CodeExecutionError | undefined,
  { source, filename }: RunSource,
): void {
  const { name = 'Error', message = '', stack, line, column } = error ?? {};
  const file = error?.filename ?? filename;
  const place =
    line === undefined ? '' : ` (${[file, line, column].filter((part) => part !== undefined).join(':')})`;
  note(`${tone('red', `${status}:`, process.stderr)} ${escapeControls(`${name}: ${message}${place}`)}`);
  if (line !== undefined && file === filename) note(`\n${escapeControls(codeFrame(source, line, column))}`);
  const frames = stack?.split('\n').filter((each) => /^\s+at /.test(each)) ?? [];
  if (frames.length > 0) note(`\n${tone('dim', escapeControls(frames.join('\n')), process.stderr)}`);
}

/** Lines of a frame before and after the one that failed, and the characters of a line. */
const [BEFORE, AFTER, WIDTH] = [2, 1, 100];

/**
 * A few lines of a source around a position, as compilers show them.
 * `line` and `column` count from 1. Long lines are cut around the column.
 */
function codeFrame(source: string, line: number, column?: number): string {
  const lines = source.split(/\r?\n/);
  const first = Math.max(1, line - BEFORE);
  const last = Math.min(lines.length, line + AFTER);
  const digits = String(last).length;
  const start = column === undefined || column <= WIDTH ? 0 : column - Math.floor(WIDTH / 2);
  const shown: string[] = [];
  for (let number = first; number <= last; number++) {
    const text = (lines[number - 1] ?? '').slice(start, start + WIDTH).replaceAll('\t', ' ');
    const mark = number === line ? '>' : ' ';
    shown.push(`${mark} ${String(number).padStart(digits)} | ${text}`.trimEnd());
    if (number === line && column !== undefined) {
      shown.push(`  ${' '.repeat(digits)} | ${' '.repeat(Math.max(0, column - 1 - start))}^`);
    }
  }
  return shown.join('\n');
}
