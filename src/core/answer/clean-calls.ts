/**
 * The calls of an answer as they may be stored (runtime §5): names, arguments and ids that the engine can rely on. What cannot be
 * repaired stays as it is, and is refused where the call is begun: the model reads why.
 * C1. A call that names nothing is none. Where an answer has no other, one that is refused stands for all of them, so that the model is told.
 * C2. Ids differ within an answer. One that is missing or taken is made of the step and the call's place: the same whenever it is made.
 * C3. Arguments that were cut off before they began are not taken for none.
 */
import type { ProviderResponse, ProviderToolCall } from '../message/provider.ts';
import { LIMITS } from '../value/limit.ts';
import { findInlineCalls, mayHoldCalls } from './inline-calls.ts';
import { type ArgumentRepair, readArguments } from './repair-arguments.ts';

/** `name`: spaces were around it. `id`: it was missing, or another call's. `inline`: it stood in the text. Others: of the arguments. */
export type CallRepair = 'name' | 'id' | 'inline' | ArgumentRepair;

export interface CleanCall {
  readonly call: ProviderToolCall;
  /** What was done to it; none where it is as the model made it. */
  readonly repairs: readonly CallRepair[];
}

/** As a model wrote it, where a call was repaired or dropped; its texts are cut. */
export interface RawCall {
  /** The stored call; absent for one that was dropped. */
  readonly callId?: string;
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

export interface CleanedCalls {
  readonly calls: readonly CleanCall[];
  /** Calls that named nothing. */
  readonly dropped: number;
  readonly raw: readonly RawCall[];
}

/** As much of it as the log tells: of each call, in their order, and of those that are not among them. */
export interface ToldRepairs {
  readonly repairs: readonly (readonly CallRepair[])[];
  readonly dropped: number;
}

/** Stands for calls that named nothing; no tool of a project can have this name. */
export const UNNAMED_CALL = 'unnamed-call';

/** No JSON object: what is refused as cut off. */
const CUT_OFF = '{';

export interface AnswerPlace {
  readonly step: number;
  /** The names that the model was offered; asked where a call is named `none`, or the text of an answer may hold calls. */
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
  // C1: the model is told.
  const told = nameless.length > 0 && inline.length === 0 ? [toCall(UNNAMED_CALL, '')] : inline;
  const made = named.length > 0 ? named.map(toNative) : told.map((call) => mend(call, ['inline']));
  const whole = finishReason === 'length' && inline.length === 0 ? made.map(markCutOff) : made;
  const calls = withIds(whole, step);
  return {
    calls: calls.map(({ call, repairs }) => ({ call, repairs: call.name === UNNAMED_CALL ? [] : repairs })),
    dropped: nameless.length,
    raw: [
      ...nameless.map((call) => toRaw(call)),
      ...calls.flatMap((cleaned, index) => {
        const given = named[index] ?? inline[index];
        return given && losesWords(cleaned, given) ? [toRaw(given, cleaned.call.id)] : [];
      }),
    ],
  };
}

/** `none` says that there is no name, unless something that was offered is called so. */
function namesSomething({ name }: ProviderToolCall, offered: AnswerPlace['offered']): boolean {
  const word = name.trim();
  return word !== '' && (word.toLowerCase() !== 'none' || offered().has(word));
}

function toCall(name: string, text: string): ProviderToolCall {
  return { id: '', name, arguments: {}, rawArguments: text };
}

function toNative(call: ProviderToolCall): CleanCall {
  const name = call.name.trim();
  return mend({ ...call, name }, name === call.name ? [] : ['name']);
}

/** What can be read of its arguments; else its text stays. */
function mend({ rawArguments, ...call }: ProviderToolCall, before: readonly CallRepair[]): CleanCall {
  if (rawArguments === undefined) return { call, repairs: before };
  const read = readArguments(rawArguments);
  if (!read) return { call: { ...call, rawArguments }, repairs: before };
  return { call: { ...call, arguments: read.value }, repairs: [...before, ...read.repairs] };
}

/** C3: of the last call of an answer that ran out of tokens; those before it are complete. */
function markCutOff({ call, repairs }: CleanCall, index: number, all: readonly CleanCall[]): CleanCall {
  const isCut = index === all.length - 1 && Object.keys(call.arguments).length === 0;
  if (!isCut || call.rawArguments !== undefined) return { call, repairs };
  return { call: { ...call, rawArguments: CUT_OFF }, repairs };
}

/** C2: ids that are given come first, then those that are made. */
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
    // An inline call has none by its nature.
    return { call: { ...call, id }, repairs: repairs.includes('inline') ? repairs : [...repairs, 'id'] };
  });
}

/** Whether something that the model wrote is not in what is stored. An inline call stands in the text of its answer. */
function losesWords({ call, repairs }: CleanCall, given: ProviderToolCall): boolean {
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
