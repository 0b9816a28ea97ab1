/**
 * Converts whatever a tool returned to a ToolResult. The tool has acted: what it returned never makes its outcome an error
 * (runtime §5.2), or a model would act again. What cannot be written down is marked in the text and said in one line of it.
 * Authors may write untyped code, so the result is a copy without getters or traps.
 */

import type { ToolResult } from '../../core/message/message.ts';
import { toResultText } from '../../core/value/result-text.ts';
import { errorMessage, readField } from '../../core/value/thrown.ts';

export interface ReadResult {
  readonly result: ToolResult;
  /** What was not kept as the tool returned it, for the log; one line each. */
  readonly notes: readonly string[];
}

/** Throws nothing. Texts may be of any length: they are cut behind their redaction (result-files.ts). */
export function toToolResult(value: unknown): ReadResult {
  if (value === undefined || value === null) return { result: { status: 'success' }, notes: [] };
  const status = readField(value, 'status');
  if (status === 'success' || status === 'error') return readFields(value, status);
  const { text, notes } = toText(value);
  const foreign = typeof value === 'object' && status !== undefined ? [FOREIGN_STATUS] : [];
  return { result: { status: 'success', result: text }, notes: [...foreign, ...notes] };
}

const FOREIGN_STATUS =
  'It returned an object whose "status" is neither "success" nor "error": the whole object was taken for its result.';

function readFields(value: unknown, status: ToolResult['status']): ReadResult {
  const notes: string[] = [];
  const textOf = (field: string): Record<string, string> => {
    const { text, notes: own } = toMemberText(value, field);
    notes.push(...own);
    return text === undefined ? {} : { [field]: text };
  };
  const stack = readField(value, 'stack');
  const code = readField(value, 'error_code');
  const data = readField(value, 'error_data');
  const result: ToolResult = {
    status,
    ...textOf('result'),
    ...textOf('error'),
    ...(typeof stack === 'string' ? { stack } : {}),
    ...(typeof code === 'string' ? { error_code: code } : {}),
    ...(data === undefined || data === null ? {} : { error_data: toJson(data) }),
  };
  try {
    return { result: { ...result, ...toAttachments((value as ToolResult).attachments) }, notes };
  } catch (error) {
    const note = `The attachments that it returned could not be read: ${errorMessage(error)}`;
    return { result: withLine(result, note), notes: [...notes, note] };
  }
}

/** Says in the text that the model reads what of the result is missing. */
export function withLine(result: ToolResult, line: string): ToolResult {
  const field = result.status === 'error' ? 'error' : 'result';
  const text = result[field];
  return { ...result, [field]: `${text === undefined ? '' : `${text}\n`}(${line})` };
}

interface NotedText {
  readonly text: string | undefined;
  readonly notes: readonly string[];
}

/** The text is undefined for an absent member. */
function toMemberText(value: unknown, field: string): NotedText {
  try {
    const given = (value as Readonly<Record<string, unknown>>)[field];
    return given === undefined || given === null ? { text: undefined, notes: [] } : toText(given);
  } catch (error) {
    const note = toNote([errorMessage(error)]);
    return { text: `(${note})`, notes: [note] };
  }
}

function toText(value: unknown): NotedText & { readonly text: string } {
  const { text, unwritten } = toResultText(value);
  if (unwritten.length === 0) return { text, notes: [] };
  const note = toNote(unwritten);
  return { text: `${text}\n(${note})`, notes: [note] };
}

function toNote(unwritten: readonly string[]): string {
  return `Parts of what it returned could not be written: ${unwritten.join('; ').slice(0, 500)}`;
}

/** As JSON, the form in which it is stored and which programs read. */
function toJson(value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value) ?? 'null') as unknown;
  } catch {
    return JSON.parse(toResultText(value).text) as unknown;
  }
}

/** Copies attachments. Their fields are validated when the files are stored (attachments.ts). */
function toAttachments(given: unknown): Pick<ToolResult, 'attachments'> {
  if (given === undefined || given === null) return {};
  if (!Array.isArray(given)) throw new TypeError('"attachments" must be a list.');
  const copies = Array.from(given, (each) =>
    typeof each === 'object' && each !== null
      ? Object.fromEntries(Object.entries(each).map(([name, field]) => [name, toPlain(field)]))
      : toPlain(each),
  );
  return { attachments: copies as ToolResult['attachments'] };
}

const PLAIN: readonly string[] = ['string', 'number', 'boolean'];

function toPlain(value: unknown): unknown {
  return PLAIN.includes(typeof value) ? value : null;
}
