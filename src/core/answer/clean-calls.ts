/**
 * Cleans the calls of an answer so that they can be stored (runtime §5): names, arguments and ids that the engine can
 * rely on. What cannot be repaired is left as it is, and the call is refused when it begins: the model then reads why.
 * - A call without a name is dropped. If an answer has no other call, one refused call replaces all of them, so that
 *   the model reads an error.
 * - Call ids are unique within an answer. A missing or duplicate id is replaced by one derived from the step and the
 *   call's position, so it is the same in every attempt.
 * - Arguments that were cut off before they began are not treated as empty arguments.
 */
import type { ProviderResponse } from '../message/provider.ts';
import type { ProviderToolCall } from '../message/provider-terms.ts';
import { LIMITS } from '../value/limit.ts';
import { findInlineCalls, mayHoldCalls } from './inline-calls.ts';
import { type ArgumentRepair, readArguments } from './repair-arguments.ts';

/**
 * `name`: surrounding spaces were removed. `id`: it was missing, or another call's. `inline`: the call was in the
 * answer's text. Others: repairs of the arguments.
 */
export type CallRepair = 'name' | 'id' | 'inline' | ArgumentRepair;

export interface CleanCall {
  readonly call: ProviderToolCall;
  /** Repairs made to the call; empty if it is as the model made it. */
  readonly repairs: readonly CallRepair[];
}

/** A repaired or dropped call as the model wrote it; its arguments are truncated. */
export interface RawCall {
  /** Id of the stored call; absent if the call was dropped. */
  readonly callId?: string;
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

export interface CleanedCalls {
  readonly calls: readonly CleanCall[];
  /** Number of calls without a name. */
  readonly dropped: number;
  readonly raw: readonly RawCall[];
}

/** The logged part of CleanedCalls: the repairs of each call, in call order, and the number of dropped calls. */
export interface LoggedRepairs {
  readonly repairs: readonly (readonly CallRepair[])[];
  readonly dropped: number;
}

/** Name of the refused call that replaces calls without a name; no tool of a project can have it. */
export const UNNAMED_CALL = 'unnamed-call';

/** Not a JSON object, so the call is refused as cut off. */
const CUT_OFF = '{';

export interface AnswerPlace {
  readonly step: number;
  /** Returns the offered names; called only if a call is named `none`, or the answer's text may hold calls. */
  readonly offered: () => ReadonlySet<string>;
}

export function cleanCalls(
  { content, toolCalls = [], finishReason }: ProviderResponse,
  { step, offered }: AnswerPlace,
): CleanedCalls {
  const isNamed = (call: ProviderToolCall) => namesSomething(call, offered);
  const named = toolCalls.filter(isNamed);
  const nameless = toolCalls.filter((call) => !isNamed(call));
  const isInline = named.length === 0 && content && mayHoldCalls(content);
  const found = isInline ? findInlineCalls(content, offered()) : [];
  const inline = found.map(({ name, text }) => toCall(name, text));
  // One refused call, so that the model reads an error.
  const extra = nameless.length > 0 && inline.length === 0 ? [toCall(UNNAMED_CALL, '')] : inline;
  const made =
    named.length > 0 ? named.map(repairNativeCall) : extra.map((call) => repairCall(call, ['inline']));
  const isCut = finishReason === 'length' || finishReason === 'content_filter';
  const whole = isCut && inline.length === 0 ? made.map(markCutOff) : made;
  const calls = withIds(whole, step);
  return {
    calls: calls.map(({ call, repairs }) => ({ call, repairs: call.name === UNNAMED_CALL ? [] : repairs })),
    dropped: nameless.length,
    raw: [
      ...nameless.map((call) => toRaw(call)),
      ...calls.flatMap((cleaned, index) => {
        const given = named[index] ?? inline[index];
        return given && losesText(cleaned, given) ? [toRaw(given, cleaned.call.id)] : [];
      }),
    ],
  };
}

/** `none` counts as no name, unless something that was offered has this name. */
function namesSomething({ name }: ProviderToolCall, offered: AnswerPlace['offered']): boolean {
  const word = name.trim();
  return word !== '' && (word.toLowerCase() !== 'none' || offered().has(word));
}

function toCall(name: string, text: string): ProviderToolCall {
  return { id: '', name, arguments: {}, rawArguments: text };
}

function repairNativeCall(call: ProviderToolCall): CleanCall {
  const name = call.name.trim();
  return repairCall({ ...call, name }, name === call.name ? [] : ['name']);
}

/** Parses and repairs the arguments of a call; if they cannot be read, their text is kept. */
function repairCall({ rawArguments, ...call }: ProviderToolCall, before: readonly CallRepair[]): CleanCall {
  if (rawArguments === undefined) return { call, repairs: before };
  const read = readArguments(rawArguments);
  if (!read) return { call: { ...call, rawArguments }, repairs: before };
  return { call: { ...call, arguments: read.value }, repairs: [...before, ...read.repairs] };
}

/** Marks the last call of an answer that ran out of tokens, or was filtered; the calls before it are complete. */
function markCutOff({ call, repairs }: CleanCall, index: number, all: readonly CleanCall[]): CleanCall {
  const isCut = index === all.length - 1 && Object.keys(call.arguments).length === 0;
  if (!isCut || call.rawArguments !== undefined) return { call, repairs };
  return { call: { ...call, rawArguments: CUT_OFF }, repairs };
}

/** Ids that the model gave are reserved first, then the missing ones are generated. */
function withIds(calls: readonly CleanCall[], step: number): readonly CleanCall[] {
  const taken = new Set<string>();
  const isOwn = calls.map(({ call: { id } }) => {
    const own = id.trim() !== '' && !taken.has(id);
    if (own) taken.add(id);
    return own;
  });
  return calls.map(({ call, repairs }, index) => {
    if (isOwn[index]) return { call, repairs };
    let id = `call_${step}_${index}`;
    while (taken.has(id)) id += '_';
    taken.add(id);
    // An inline call never has an id, so generating one is not a repair.
    return { call: { ...call, id }, repairs: repairs.includes('inline') ? repairs : [...repairs, 'id'] };
  });
}

/** True if something that the model wrote is not stored. An inline call is kept in the text of its answer. */
function losesText({ call, repairs }: CleanCall, given: ProviderToolCall): boolean {
  const isMended = repairs.some((repair) => repair !== 'id' && repair !== 'inline');
  return isMended || (given.id.trim() !== '' && given.id !== call.id);
}

function toRaw({ id, name, arguments: parsed, rawArguments }: ProviderToolCall, callId?: string): RawCall {
  const text = rawArguments ?? JSON.stringify(parsed);
  return {
    ...(callId === undefined ? {} : { callId }),
    id,
    name,
    arguments: text.slice(0, LIMITS.rawCallChars),
  };
}
