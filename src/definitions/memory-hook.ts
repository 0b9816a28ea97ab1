/**
 * `memoryHook` (docs/hooks.md): two hooks that remember what a thread was asked and what it answered, and recall what fits the question at hand, in
 * that thread and in others of its user.
 * M1. Notes are one value of their thread, so they cost two reads a request, whatever its length. It has the newest `notes` of them.
 * M2. A question that is asked again has one note, with its newest answer: what the end hook does twice is there once.
 * M3. What is recalled is part of one request, and left out where the request shows the question anyway.
 * M4. Notes of other threads are those of the same user and the same organisation. Where they cannot be read, the request has the thread's own.
 */
import type { HookDefinition } from '../core/author/hook.ts';
import type { LLMMessage } from '../core/message/llm-message.ts';
import { defineHook } from './define-hook.ts';

export interface MemoryHookInput {
  /** Its id where it is not `remember` or `recall`. */
  id?: string;
  /** The most notes that are kept, the newest; 100 where absent, 1000 at most. */
  notes?: number;
  /** The most that a request is given; 4 where absent. */
  recalls?: number;
  /** What is recalled: notes of the user's threads, of which 20 are read, or of the thread alone. `user` where absent. */
  within?: 'user' | 'thread';
}

interface Note {
  readonly asked: string;
  readonly answered: string;
}

const KEY = 'everthread.memory';
/** Of a question, and of an answer: with 1000 of them what is kept stays below the limit of a value. */
const MAX_CHARS = 120_000;
const NOTE_CHARS = 500;
/** Behind the hooks of authors. */
const PRIORITY = -10;

/**
 * At the end of an execution that has an answer: keeps the last question with it. List it under `hooks`.
 * @example
 * ```ts
 * export default memoryHook('remember', { notes: 200 });
 * ```
 */
export function memoryHook(part: 'remember', input?: MemoryHookInput): HookDefinition<'on_agent_end'>;
/**
 * Before a request: the notes of the user's threads that share words with the last question stand before it. List it under `hooks`.
 * @example
 * ```ts
 * export default memoryHook('recall', { recalls: 3 });
 * ```
 */
export function memoryHook(part: 'recall', input?: MemoryHookInput): HookDefinition<'prefilter_llm_history'>;
export function memoryHook(
  part: 'remember' | 'recall',
  { id = part, notes = 100, recalls = 4, within = 'user' }: MemoryHookInput = {},
): HookDefinition<'on_agent_end'> | HookDefinition<'prefilter_llm_history'> {
  return part === 'remember' ? remember(id, Math.min(notes, 1000)) : recall(id, recalls, within === 'user');
}

function remember(id: string, most: number): HookDefinition<'on_agent_end'> {
  return defineHook({
    hook: 'on_agent_end',
    id,
    priority: PRIORITY,
    async execute(state, { status, text }) {
      if (status !== 'idle' || text === null) return;
      const { messages } = await state.getMessages({ limit: 100, order: 'desc' });
      const question = messages.find(
        ({ role, content, metadata }) => role === 'user' && content && metadata.queued !== true,
      );
      if (!question?.content) return;
      const note = { asked: toNoteText(question.content), answered: toNoteText(text) };
      const before = await readNotes(state);
      // M2: the newest answer alone.
      const kept = before.filter(({ asked }) => asked !== note.asked);
      await state.setValue(KEY, withinSize([...kept, note].slice(-most)));
    },
  });
}

function recall(id: string, most: number, ofUser: boolean): HookDefinition<'prefilter_llm_history'> {
  return defineHook({
    hook: 'prefilter_llm_history',
    id,
    priority: PRIORITY,
    async execute(state, messages) {
      const last = messages.findLastIndex(({ role }) => role === 'user');
      const question = last < 0 ? undefined : messages[last];
      if (!question) return;
      const shown = messages.map(textOf).map(toNoteText);
      // M3: what is shown anyway is not recalled.
      const own = await readNotes(state);
      const others = ofUser ? await readOthers(state) : [];
      const unseen = [...own, ...others].filter(({ asked }) => !shown.includes(asked));
      const found = rank(unseen, textOf(question)).slice(0, most);
      if (found.length === 0) return;
      const isOwn = found.every((note) => own.includes(note));
      return [...messages.slice(0, last), toReminder(found, isOwn), ...messages.slice(last)];
    },
  });
}

async function readNotes(state: { getValue(key: string): Promise<unknown> }): Promise<readonly Note[]> {
  const kept = await state.getValue(KEY);
  return Array.isArray(kept) ? (kept as readonly Note[]) : [];
}

/** M4. Never rejects. */
async function readOthers(state: {
  getUserValues(key: string): Promise<readonly unknown[]>;
}): Promise<readonly Note[]> {
  const kept = await state.getUserValues(KEY).catch(() => []);
  return kept.flatMap((notes) => (Array.isArray(notes) ? (notes as readonly Note[]) : []));
}

/** M1: without the oldest, as far as all would be too long for a value. */
function withinSize(notes: readonly Note[]): readonly Note[] {
  let left = MAX_CHARS;
  const from = notes.findLastIndex(({ asked, answered }) => {
    left -= JSON.stringify([asked, answered]).length;
    return left < 0;
  });
  return notes.slice(from + 1);
}

function toNoteText(text: string): string {
  return text.replace(/\s+/g, ' ').trim().slice(0, NOTE_CHARS);
}

/** The best first: a word that few notes have weighs more. Notes that share no word are left out. */
function rank(notes: readonly Note[], question: string): readonly Note[] {
  const asked = wordsOf(question);
  const words = notes.map((note) => wordsOf(`${note.asked} ${note.answered}`));
  const weight = (word: string) => 1 / words.filter((each) => each.has(word)).length;
  const scored = notes.map((note, index) => {
    const shared = [...asked].filter((word) => words[index]?.has(word));
    return { note, score: shared.reduce((sum, word) => sum + weight(word), 0) };
  });
  const found = scored.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score);
  return found.map(({ note }) => note);
}

/** Words of four letters and more, of which a question has few that say nothing. */
function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]{4,}/gu) ?? []);
}

function textOf({ content }: LLMMessage): string {
  if (typeof content === 'string' || content === null) return content ?? '';
  return content.map((part) => (part.type === 'text' ? part.text : '')).join(' ');
}

function toReminder(notes: readonly Note[], isOwn: boolean): LLMMessage {
  const from = isOwn ? 'Earlier in this conversation' : 'From earlier conversations';
  const lines = notes.map(({ asked, answered }) => `- Asked: ${asked}\n  Answered: ${answered}`);
  return { role: 'user', content: `[memory] ${from}:\n${lines.join('\n')}` };
}
