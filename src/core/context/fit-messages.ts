/**
 * Chooses what of a request's messages its model can hold. Stored messages stay whole. Pure: the same messages and terms give the same
 * choice.
 * - A call and its results stay together, and arguments are never cut.
 * - The system text and the summary are always sent, and so is what the model is to answer: the newest message, the
 *   calls before it with their results, and the user's message that those follow. The rest goes from the oldest on.
 * - What no room could hold is cut in the middle, at the same place in every later request: `longest` is kept once
 *   something was cut, and lowered only if what is always sent would not fit otherwise.
 * - It takes time linear in the messages.
 */
import type { ProviderMessage } from '../message/provider.ts';
import { cutMiddle, fairShare } from '../value/cut-middle.ts';
import { mapTexts, textsOf, withoutParts } from './message-text.ts';
import { SUMMARY_TAG } from './summary.ts';

export interface FitTerms {
  /** What all messages together may weigh. */
  readonly room: number;
  readonly weigh: (message: ProviderMessage) => number;
  /** Characters above which a message is cut; absent if none has been cut. */
  readonly longest?: number;
  /** Characters that a first cut leaves of this text, where `free` is the room beside what is always sent of the system. */
  readonly firstLongest: (text: string, free: number) => number;
  /** Stands where a text was cut. */
  readonly mark: (omitted: number, message: ProviderMessage) => string;
}

export interface FittedMessages {
  readonly messages: readonly ProviderMessage[];
  /** How many messages were left out. */
  readonly dropped: number;
  readonly longest?: number;
  /** Results that were cut, whole. */
  readonly cut: readonly ToolMessage[];
  /** False if what must be sent exceeds the room. */
  readonly fits: boolean;
}

export type ToolMessage = Extract<ProviderMessage, { role: 'tool' }>;

/** A message with the results that follow it. */
interface Exchange {
  readonly messages: readonly ProviderMessage[];
  readonly role: ProviderMessage['role'];
  readonly weight: number;
  /** Sent in any case. */
  readonly always: boolean;
  /** True for the system text, which is never cut. */
  readonly isPrompt: boolean;
}

/** Characters below which no message is cut. */
const LEAST = 200;

export function fitMessages(messages: readonly ProviderMessage[], terms: FitTerms): FittedMessages {
  const whole = toExchanges(messages, terms);
  if (terms.longest === undefined && weightOf(whole) <= terms.room)
    return { messages, dropped: 0, cut: [], fits: true };
  const first = firstCut(whole, terms);
  for (let longest = terms.longest ?? first; ; longest = lower(longest, whole, terms)) {
    const { kept, fits } = dropOldest(
      whole.map((each) => cutExchange(each, longest, terms)),
      terms.room,
    );
    if (fits || (longest !== undefined && longest <= LEAST)) return describe(whole, kept, { longest, fits });
  }
}

/** Undefined if each of them could be held alone. */
function firstCut(whole: readonly Exchange[], terms: FitTerms): number | undefined {
  const free = freeOf(whole, terms);
  return whole.some(({ weight, isPrompt }) => !isPrompt && weight > free) ? cutOf(whole, terms) : undefined;
}

/** The room beside the system's messages that are always sent. */
function freeOf(whole: readonly Exchange[], { room }: FitTerms): number {
  return room - weightOf(whole.filter(({ role, always }) => always && role === 'system'));
}

function lower(longest: number | undefined, whole: readonly Exchange[], terms: FitTerms): number {
  return longest === undefined ? cutOf(whole, terms) : Math.max(LEAST, Math.floor(longest / 2));
}

function cutOf(whole: readonly Exchange[], terms: FitTerms): number {
  const texts = whole.flatMap((each) => each.messages.flatMap(textsOf));
  const longest = texts.reduce((one, other) => (other.length > one.length ? other : one), '');
  return Math.max(LEAST, terms.firstLongest(longest, freeOf(whole, terms)));
}

const weightOf = (exchanges: readonly Exchange[]) => exchanges.reduce((sum, { weight }) => sum + weight, 0);

function toExchanges(messages: readonly ProviderMessage[], { weigh }: FitTerms): Exchange[] {
  const groups: ProviderMessage[][] = [];
  for (const message of messages) {
    if (message.role === 'tool' && groups.length > 0) groups.at(-1)?.push(message);
    else groups.push([message]);
  }
  const always = findAlways(groups);
  return groups.map((group, index) => ({
    messages: group,
    role: (group[0] as ProviderMessage).role,
    weight: group.reduce((sum, each) => sum + weigh(each), 0),
    always: always.has(index),
    isPrompt: index === 0 && group[0]?.role === 'system' && !isSummary(group[0]),
  }));
}

/** Indices of the exchanges that are always sent. */
function findAlways(groups: readonly (readonly ProviderMessage[])[]): ReadonlySet<number> {
  const always = new Set<number>();
  const roleAt = (index: number) => groups[index]?.[0]?.role;
  if (roleAt(0) === 'system') always.add(0);
  for (const index of [0, 1]) if (isSummary(groups[index]?.[0])) always.add(index);
  const last = groups.length - 1;
  if (last < 0) return always;
  always.add(last);
  let at = last;
  while (at > 0 && (roleAt(at) === 'user' || roleAt(at) === 'system')) at -= 1;
  if ((groups[at]?.length ?? 0) > 1) always.add(at);
  else at = last;
  while (at >= 0 && roleAt(at) !== 'user') at -= 1;
  if (at >= 0) always.add(at);
  return always;
}

function isSummary(message: ProviderMessage | undefined): boolean {
  return message?.role === 'system' && message.content.startsWith(SUMMARY_TAG);
}

/** The texts of an exchange share what is left of it by its arguments. */
function cutExchange(exchange: Exchange, longest: number | undefined, terms: FitTerms): Exchange {
  const { messages, isPrompt } = exchange;
  if (longest === undefined || isPrompt) return exchange;
  const parts = messages.reduce((sum, each) => sum + terms.weigh(each) - terms.weigh(withoutParts(each)), 0);
  const shown = parts > terms.room / 2 ? messages.map(withoutParts) : messages;
  const lengths = shown.flatMap(textsOf).map(({ length }) => length);
  const called = shown.reduce((sum, each) => sum + argumentChars(each), 0);
  const most = fairShare(lengths, Math.max(0, longest - called));
  const isCut = lengths.some((length) => length > most);
  if (!isCut && shown === messages) return exchange;
  const cut = shown.map((each) =>
    textsOf(each).some(({ length }) => length > most)
      ? mapTexts(each, (text) => cutText(text, most, each, terms))
      : each,
  );
  return { ...exchange, messages: cut, weight: cut.reduce((sum, each) => sum + terms.weigh(each), 0) };
}

/** A text that its mark would not shorten stays. */
function cutText(text: string, most: number, message: ProviderMessage, { mark }: FitTerms): string {
  if (text.length <= most) return text;
  const cut = cutMiddle(text, most, (omitted) => mark(omitted, message));
  return cut.length < text.length ? cut : text;
}

function argumentChars(message: ProviderMessage): number {
  return message.role === 'assistant' && message.toolCalls ? JSON.stringify(message.toolCalls).length : 0;
}

/** The oldest first. If any were dropped, the rest begins with a user's message, as providers insist. */
function dropOldest(
  exchanges: readonly Exchange[],
  room: number,
): { readonly kept: readonly Exchange[]; readonly fits: boolean } {
  let weight = weightOf(exchanges);
  let dropped = false;
  let begun = false;
  const later = exchanges.findLastIndex(({ role }) => role === 'user');
  const kept = exchanges.filter((each, index) => {
    const opens = begun || each.role === 'user' || each.role === 'system' || index > later;
    if (each.always || (weight <= room && (opens || !dropped))) {
      begun ||= each.role !== 'system';
      return true;
    }
    weight -= each.weight;
    dropped = true;
    return false;
  });
  return { kept, fits: weight <= room };
}

function describe(
  whole: readonly Exchange[],
  kept: readonly Exchange[],
  { longest, fits }: { readonly longest: number | undefined; readonly fits: boolean },
): FittedMessages {
  const messages = kept.flatMap((each) => each.messages);
  const count = whole.reduce((sum, each) => sum + each.messages.length, 0);
  return {
    messages,
    dropped: count - messages.length,
    ...(longest === undefined ? {} : { longest }),
    cut: findCut(whole, messages),
    fits,
  };
}

/** The whole form of the results that were cut. */
function findCut(whole: readonly Exchange[], sent: readonly ProviderMessage[]): ToolMessage[] {
  const same = new Set(sent);
  const ids = new Set(sent.flatMap((each) => (each.role === 'tool' ? [each.toolCallId] : [])));
  return whole
    .flatMap(({ messages }) => messages)
    .filter(
      (each): each is ToolMessage => each.role === 'tool' && !same.has(each) && ids.has(each.toolCallId),
    );
}
