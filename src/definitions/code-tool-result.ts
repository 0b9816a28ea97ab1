/** Converts the outcome of a sandbox run into a tool result: the text for the model. */
import type {
  CodeExecutionError,
  CodeExecutionLog,
  CodeExecutionResult,
} from '../core/author/code-execution.ts';
import type { ToolResult } from '../core/message/message.ts';
import { utf8Length } from '../core/value/limit.ts';
import { toTaggedJson } from '../core/value/tagged-json.ts';

/** A tool's result is sent again with every later step, so its size is limited. */
export const CODE_RESULT_BYTES = 256 * 1024;
const LOGS_BYTES = 16 * 1024;
const LOG_LINE_LENGTH = 2 * 1024;
const ERROR_LOGS_BYTES = 4 * 1024;

export function toCodeToolResult({ status, result, error, logs }: CodeExecutionResult): ToolResult {
  if (status !== 'success') return toErrorResult(`${status}: ${describeError(error)}`, logs);
  const lines = takeLastLines(logs, LOGS_BYTES);
  const answer = lines.length > 0 ? { result, logs: lines } : { result };
  const written = toTaggedJson(answer, { maxBytes: CODE_RESULT_BYTES });
  if (written.ok) return { status: 'success', result: written.text };
  return toErrorResult(`The result is larger than ${CODE_RESULT_BYTES} bytes; return less.`, logs);
}

function toErrorResult(what: string, logs: readonly CodeExecutionLog[]): ToolResult {
  const lines = takeLastLines(logs, ERROR_LOGS_BYTES);
  return { status: 'error', error: [what, ...(lines.length > 0 ? ['Console:', ...lines] : [])].join('\n') };
}

function describeError(error: CodeExecutionError | undefined): string {
  const { name = 'Error', line, column, specifier } = error ?? {};
  // The sandbox's own wording addresses callers who can provide modules, which a model cannot.
  const message =
    specifier === undefined
      ? error?.message
      : `Cannot import '${specifier}': imports are not available here.`;
  const place =
    line === undefined ? '' : ` (line ${line}${column === undefined ? '' : `, column ${column}`})`;
  return `${name}${message ? `: ${message}` : ' without a message'}${place}`;
}

/** Returns the last lines that fit, with a note if earlier ones were left out. */
function takeLastLines(logs: readonly CodeExecutionLog[], maxBytes: number): string[] {
  const lines: string[] = [];
  let left = maxBytes;
  for (const log of logs.toReversed()) {
    const line = toLine(log);
    left -= utf8Length(line);
    if (left < 0) break;
    lines.unshift(line);
  }
  const before = logs.length - lines.length;
  return before > 0
    ? [`(${before} earlier ${before === 1 ? 'entry' : 'entries'} left out)`, ...lines]
    : lines;
}

/** Formats one log entry, cut at LOG_LINE_LENGTH; values beyond that are not formatted. */
function toLine({ level, args }: CodeExecutionLog): string {
  let line = level === 'log' ? '' : `${level}:`;
  for (const value of args) {
    if (line.length > LOG_LINE_LENGTH) break;
    line += `${line === '' ? '' : ' '}${toText(value)}`;
  }
  return line.length > LOG_LINE_LENGTH ? `${line.slice(0, LOG_LINE_LENGTH)}…` : line;
}

function toText(value: unknown): string {
  if (typeof value === 'string') return value;
  const written = toTaggedJson(value, { maxBytes: LOG_LINE_LENGTH });
  return written.ok ? written.text : '(a large value)';
}
