/**
 * How a program ended, for the model that wrote it: its result as JSON, or what went wrong, where, and the remedy;
 * then its console. Limited in size: it is read again with every later step, and a value that
 * is small in memory can be huge as text.
 */
import type { CodeExecutionLog, CodeExecutionResult, ToolResult } from 'everthread';

const RESULT_CHARACTERS = 16_000;
const CONSOLE_CHARACTERS = 4_000;

const ADVICE = {
  error: '',
  link_error: "'handbook' alone can be imported, and what you want to know must be exported as default.",
  memory: 'Go through the texts one by one, and keep numbers instead of texts.',
  terminated: 'See to it that every loop comes to an end.',
};

export function tellEnd({ status, result, error, logs }: CodeExecutionResult): ToolResult {
  const printed = tellConsole(logs);
  if (status !== 'success') {
    const { name, message, filename, line, column } = error ?? {};
    const place = line === undefined ? '' : ` (${filename}:${line}:${column ?? 1})`;
    const told = [`${status}: ${name}: ${message}${place}`, ADVICE[status], printed];
    return { status: 'error', error: told.filter(Boolean).join('\n') };
  }
  const json = toJson(result, RESULT_CHARACTERS);
  if (json !== undefined) return { status: 'success', result: [json, printed].filter(Boolean).join('\n') };
  const refusal = `The result is longer than ${RESULT_CHARACTERS} characters, or refers to itself: export less.`;
  return { status: 'error', error: refusal };
}

/** The newest lines that fit. */
function tellConsole(logs: readonly CodeExecutionLog[]): string {
  const lines: string[] = [];
  let left = CONSOLE_CHARACTERS;
  for (const { args } of logs.toReversed()) {
    const line = args.map((value) => toText(value, left)).join(' ');
    left -= line.length;
    if (left < 0) break;
    lines.unshift(line);
  }
  return lines.length === 0 ? '' : ['Console:', ...lines].join('\n');
}

function toText(value: unknown, budget: number): string {
  return typeof value === 'string' ? value : (toJson(value, budget) ?? '(a large value)');
}

/** Undefined when it does not fit the limit; values that JSON lacks become the nearest ones that it has. */
function toJson(value: unknown, budget: number): string | undefined {
  let left = budget;
  try {
    const json = JSON.stringify(value, (key, each: unknown) => {
      left -= key.length + (typeof each === 'string' ? each.length : 1) + 2;
      if (left < 0) throw new RangeError('over budget');
      return toPlain(each);
    });
    return json ?? 'undefined';
  } catch {
    return undefined;
  }
}

function toPlain(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'function') return '(a function)';
  if (typeof value !== 'object' || value === null) return value;
  if (Object.prototype.toString.call(value) === '[object Error]') return String(value);
  if (ArrayBuffer.isView(value)) return `(${value.byteLength} bytes)`;
  return Symbol.iterator in value ? [...(value as Iterable<unknown>)] : value;
}
