/**
 * The messages of one conversation as they were sent, each with a position, and requests as runs of positions. A call's
 * row has what its request added to the chain of the call before it, so a step writes the same whatever the length of
 * the history, and while a window drops messages in front.
 * - An entry has a stored message's id and how it was shown, no text of it (shown-message.ts). If the same message is
 *   shown differently later, the later call's row has another entry for its position.
 * - A message that shows no stored one has no position: each request names it by the digest of its text.
 * - A row names the row that it continues, so what a worker adds that was presumed lost belongs to no other row.
 * Pure, apart from the state, which a caller keeps for the next request (keep-request.ts).
 */
import type { ContextMessage } from '../../core/context/context.ts';
import { findOrigins } from '../../core/context/message-origin.ts';
import type { ProviderMessage } from '../../core/message/provider.ts';
import type { SentRequest } from './request-record.ts';
import {
  digestOf,
  type Form,
  formOf,
  hasOwnText,
  letterOf,
  type RoleLetter,
  type ShownText,
  showMessage,
  showText,
} from './shown-message.ts';

/** Position, id of the stored message, digest of the shown one, its bytes, how it is made. */
export type Entry = readonly [position: number, id: string, digest: string, bytes: number, form: Form];

/** The column `chain` of a call's row. */
export interface ChainPart {
  readonly chain: string;
  /** The call that it continues; absent for the first one. */
  readonly base?: string;
  /** The first position that is free after it. */
  readonly next: number;
  readonly add: readonly Entry[];
}

/** Index in the request, digest of the text, its bytes, its role; `like` if its text is not stored as a whole. */
export type OwnMessage = readonly [
  index: number,
  digest: string,
  bytes: number,
  role: RoleLetter,
  like?: LikeText,
];

/**
 * A long text that differs from another one in one place, as a prompt with the time does: digest of the other one, how
 * many characters of its beginning and of its end are the same, and digest of what is between them.
 */
export type LikeText = readonly [other: string, before: number, after: number, between: string];

/** The column `request` of a call's row. */
export interface RequestPart {
  readonly provider?: string;
  readonly model: string;
  readonly maxOutputTokens?: number;
  /** Number of messages, and bytes of the request. */
  readonly count: number;
  readonly bytes: number;
  /** Runs of positions in the order of the request: from the first up to the second of each pair. */
  readonly runs: readonly number[];
  /** Messages that show no stored one. */
  readonly own: readonly OwnMessage[];
  /** Digests of the other parts, with their bytes; tools are absent if there are none. */
  readonly tools?: readonly [digest: string, bytes: number];
  readonly options: readonly [digest: string, bytes: number];
}

/** A text that the row names, and that may not be stored yet. */
export interface NamedText {
  readonly digest: string;
  readonly body: string;
  readonly messageId: string | null;
  readonly quotes: boolean;
}

type TextAbout = Pick<NamedText, 'messageId' | 'quotes'>;

interface Slot {
  readonly id: string;
  readonly position: number;
  digest: string;
  bytes: number;
  /** True if its text is not that of the stored message. */
  own: boolean;
  /** As it was sent last; absent if another process has sent it. */
  message?: ProviderMessage;
  /** Number of the request that showed it last, and its place in that. */
  shownBy: number;
  place: number;
}

/** What is known of the newest row of a chain. */
export interface ChainState {
  next: number;
  /** Number of requests that this process has added. */
  requests: number;
  /** By the id of the stored message. */
  slots: Map<string, Slot>;
  /** Those of the last request, in its order: the next one mostly shows the same. */
  last: Slot[];
  /** Digests of texts that are stored. */
  texts: Set<string>;
  /** Values whose text is known: they are compared faster than their texts are made. */
  values: Map<string, { readonly value: unknown; readonly shown: ShownText }>;
  /** Texts that later ones of their kind are compared with. */
  wholes: Map<string, ShownText>;
}

export function newChain(): ChainState {
  return {
    next: 0,
    requests: 0,
    slots: new Map(),
    last: [],
    texts: new Set(),
    values: new Map(),
    wholes: new Map(),
  };
}

/** The state after the row of a call, as another process left it. */
export function restoreChain(
  next: number,
  entries: Iterable<Entry>,
  { own, tools, options }: Pick<RequestPart, 'own' | 'tools' | 'options'>,
): ChainState {
  const state = newChain();
  state.next = next;
  for (const [position, id, digest, bytes, form] of entries)
    state.slots.set(id, { id, position, digest, bytes, own: hasOwnText(form), shownBy: 0, place: 0 });
  for (const [, digest, , , like] of own) if (!like) state.texts.add(digest);
  for (const part of [tools, options]) if (part) state.texts.add(part[0]);
  return state;
}

/** Forgets which texts are stored: some were removed, and are stored again if they are sent again. */
export function forgetTexts(state: ChainState): void {
  state.texts.clear();
  state.last = [];
  for (const [id, { own }] of state.slots) if (own) state.slots.delete(id);
}

export interface ExtendedChain {
  readonly add: readonly Entry[];
  readonly next: number;
  readonly request: RequestPart;
  readonly texts: readonly NamedText[];
}

/** Returns what the row of a call holds of its request. The state is then that after the row. */
export function extendChain(state: ChainState, sent: SentRequest): ExtendedChain {
  const { messages, tools, signal: _, model, maxOutputTokens, ...options } = sent.request;
  const origins = findOrigins(messages, sent.origins);
  const writing = new Writing(state, sent);
  const runs: number[] = [];
  const own: OwnMessage[] = [];
  for (const [index, message] of messages.entries()) {
    const id = origins[index];
    const position = id === undefined ? undefined : writing.place(id, message);
    if (position === undefined) own.push(writing.own(index, message));
    else if (runs.at(-1) === position) runs[runs.length - 1] = position + 1;
    else runs.push(position, position + 1);
  }
  const toolsText = tools && tools.length > 0 ? writing.value('tools', tools) : undefined;
  const optionsText = writing.value('options', options);
  state.next = writing.next;
  state.last = writing.shown;
  dropUnused(state, messages.length);
  return {
    add: writing.added,
    next: state.next,
    texts: [...writing.texts.values()],
    request: {
      ...(sent.provider === '' ? {} : { provider: sent.provider }),
      model,
      ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
      count: messages.length,
      bytes: writing.bytes,
      runs,
      own,
      ...(toolsText && { tools: toolsText }),
      options: optionsText,
    },
  };
}

/** Searches before a table is made. */
const FEW = 16;

class Writing {
  readonly added: Entry[] = [];
  readonly texts = new Map<string, NamedText>();
  readonly #state: ChainState;
  readonly #sent: SentRequest;
  readonly #shown: Slot[] = [];
  /** Place in the last request of what probably comes next. */
  #next = 0;
  #stored?: ReadonlyMap<string, ContextMessage>;
  #lookups = 0;
  next: number;
  bytes = 0;

  constructor(state: ChainState, sent: SentRequest) {
    this.#state = state;
    this.#sent = sent;
    this.next = state.next;
    state.requests += 1;
  }

  /** The position of a message that shows a stored one; undefined if the request shows that already. */
  place(id: string, message: ProviderMessage): number | undefined {
    const slot = this.#find(id);
    if (slot?.shownBy === this.#state.requests) return undefined;
    if (slot?.message && isSameMessage(slot.message, message)) return this.#show(slot);
    const shown = showMessage(message, this.#sent.redact);
    if (slot?.digest === shown.digest) return this.#show(slot, message);
    const form = formOf(message, shown, this.#findStored(id));
    const own = hasOwnText(form);
    if (own) this.#name(shown, { messageId: id, quotes: false });
    const { digest, bytes } = shown;
    const kept = slot ?? { id, position: this.next, digest, bytes, own, shownBy: 0, place: 0 };
    if (!slot) this.next += 1;
    Object.assign(kept, { digest, bytes, own });
    this.#state.slots.set(id, kept);
    this.added.push([kept.position, id, digest, bytes, form]);
    return this.#show(kept, message);
  }

  own(index: number, message: ProviderMessage): OwnMessage {
    const name = `message ${index}`;
    const shown = this.#read(name, message, () => showMessage(message, this.#sent.redact));
    const { digest, bytes } = shown;
    const isPrompt = index === 0 && message.role === 'system' && this.#sent.ownPrompt;
    const about = { messageId: null, quotes: !isPrompt };
    const like = this.#findLike(name, shown, about);
    if (!like) this.#name(shown, about);
    const named = [index, digest, bytes, letterOf(message)] as const;
    return like ? [...named, like] : named;
  }

  value(name: string, value: unknown): readonly [digest: string, bytes: number] {
    const shown = this.#read(name, value, () => showText(value, this.#sent.redact));
    this.#name(shown, { messageId: null, quotes: false });
    return [shown.digest, shown.bytes];
  }

  #read(name: string, value: unknown, show: () => ShownText): ShownText {
    const known = this.#state.values.get(name);
    const isKnown = known !== undefined && isSameValue(known.value, value);
    const shown = isKnown ? known.shown : show();
    if (!isKnown) this.#state.values.set(name, { value, shown });
    this.bytes += shown.bytes;
    return shown;
  }

  #findLike(name: string, shown: ShownText, about: TextAbout): LikeText | undefined {
    const { texts, wholes } = this.#state;
    const whole = wholes.get(name);
    if (texts.has(shown.digest)) return undefined;
    if (whole && texts.has(whole.digest)) {
      const [before, after] = sameEnds(whole.text, shown.text);
      if (before + after >= LIKE_CHARS && 2 * (before + after) >= shown.text.length) {
        const text = shown.text.slice(before, shown.text.length - after);
        const between = { text, digest: digestOf(text) };
        this.#name(between, about);
        return [whole.digest, before, after, between.digest];
      }
    }
    wholes.set(name, shown);
    return undefined;
  }

  #find(id: string): Slot | undefined {
    const likely = this.#state.last[this.#next];
    const slot = likely?.id === id ? likely : this.#state.slots.get(id);
    if (slot) this.#next = slot.place + 1;
    return slot;
  }

  /** The slots of the request. */
  get shown(): Slot[] {
    return this.#shown;
  }

  /** A message that is the same as before is not held: all objects of a long request would outlive their step. */
  #show(slot: Slot, message = slot.message): number {
    slot.place = this.#shown.push(slot) - 1;
    slot.message = message;
    slot.shownBy = this.#state.requests;
    this.bytes += slot.bytes;
    return slot.position;
  }

  #name({ digest, text: body }: Pick<ShownText, 'digest' | 'text'>, about: TextAbout): void {
    if (this.#state.texts.has(digest)) return;
    this.#state.texts.add(digest);
    this.texts.set(digest, { digest, body, ...about });
  }

  #findStored(id: string): ContextMessage | undefined {
    // Mostly the newest are new.
    if (!this.#stored && this.#lookups < FEW) {
      this.#lookups += 1;
      return this.#sent.stored.findLast((each) => each.id === id);
    }
    this.#stored ??= new Map(this.#sent.stored.map((each) => [each.id, each]));
    return this.#stored.get(id);
  }
}

/** Requests for which a message is remembered that they do not show: those of a smaller model may come in between. */
const REMEMBERED = 8;

const MOST_VALUES = 20;
const MOST_TEXTS = 1000;

/** The window leaves messages for good. */
function dropUnused({ slots, values, wholes, texts, requests }: ChainState, count: number): void {
  if (slots.size > 2 * count + 100)
    for (const [id, { shownBy }] of slots) if (shownBy < requests - REMEMBERED) slots.delete(id);
  if (values.size > MOST_VALUES) values.clear();
  if (wholes.size > MOST_VALUES) wholes.clear();
  // A text that is sent again is then stored again, in the same place.
  if (texts.size > MOST_TEXTS) texts.clear();
}

/** Characters that two texts must have in common at their ends, for one to be stored as a change of the other. */
const LIKE_CHARS = 500;

/** How many characters are the same at the beginning and at the end; no pair of surrogates is cut. */
function sameEnds(one: string, other: string): readonly [before: number, after: number] {
  const most = Math.min(one.length, other.length);
  let before = 0;
  while (before < most && one[before] === other[before]) before += 1;
  if (isFirstHalf(other, before - 1)) before -= 1;
  let after = 0;
  while (after < most - before && one.at(-1 - after) === other.at(-1 - after)) after += 1;
  if (isFirstHalf(other, other.length - after - 1) || isFirstHalf(one, one.length - after - 1)) after -= 1;
  return [Math.max(0, before), Math.max(0, after)];
}

const isFirstHalf = (text: string, at: number) => (text.charCodeAt(at) & 0xfc00) === 0xd800;

/** Compares what a message of most requests has, before anything is enumerated. */
function isSameMessage(one: ProviderMessage, other: ProviderMessage): boolean {
  if (one.role !== other.role) return false;
  if (one.role !== 'assistant' || other.role !== 'assistant') {
    if (one.role === 'tool' && other.role === 'tool')
      return (
        one.toolCallId === other.toolCallId &&
        one.toolName === other.toolName &&
        isSameValue(one.content, other.content) &&
        isSameValue(one.attachments, other.attachments)
      );
    return isSameValue(one.content, other.content);
  }
  return (
    one.content === other.content &&
    one.reasoning === other.reasoning &&
    isSameValue(one.toolCalls, other.toolCalls) &&
    isSameValue(one.reasoningDetails, other.reasoningDetails) &&
    isSameValue(one.parts, other.parts)
  );
}

/** Compares two values of JSON; much faster than their texts are made. */
function isSameValue(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  if (Array.isArray(one))
    return (
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((each, index) => isSameValue(each, other[index]))
    );
  if (Array.isArray(other)) return false;
  const keys = Object.keys(one);
  if (keys.length !== Object.keys(other).length) return false;
  const [left, right] = [one, other] as Readonly<Record<string, unknown>>[];
  return keys.every((key) => isSameValue(left?.[key], right?.[key]));
}
