/**
 * `memoryHook` (docs/hooks.md): two hooks. One stores what a thread was asked and what it answered; the other recalls
 * the notes that fit the current question, in that thread and in other threads of its user.
 * - Notes are kept by the store, for this hook alone (store/memory/memory.ts): the newest `notes` of each thread.
 * - A question that is asked again has one note, with its newest answer. So running the end hook twice does no harm.
 * - A recalled note is part of one request only. It is left out if the request shows its question anyway.
 * - Notes of other threads are recalled only for the same user and the same organisation.
 */
import type { HookDefinition, HookMemory, MemoryNote } from '../core/author/hook.ts';
import type { LLMMessage } from '../core/message/llm-message.ts';
import { defineHook } from './define-hook.ts';
import { markDefinition } from './definition-mark.ts';

export interface MemoryHookInput {
  /** Id of the hook; default `remember` or `recall`. */
  id?: string;
  /** Maximum number of notes that are kept, the newest; default 100, at most 1000. */
  notes?: number;
  /** Maximum number of notes that a request gets; default 4. */
  recalls?: number;
  /**
   * `user` (default): recalls notes of this thread and of other threads of its user and organisation.
   * `thread`: of this thread only.
   */
  within?: 'user' | 'thread';
}

/** Characters of a question, and of an answer. */
const NOTE_CHARS = 500;
/** Runs after the hooks of authors, whose default priority is 0. */
const PRIORITY = -10;

/**
 * Stores the last question and its answer at the end of an execution that has an answer. List it under `hooks`.
 * @example
 * ```ts
 * export default memoryHook('remember', { notes: 200 });
 * ```
 */
export function memoryHook(part: 'remember', input?: MemoryHookInput): HookDefinition<'on_agent_end'>;
/**
 * Adds the notes that share words with the last question to each request, before that question. List it under `hooks`.
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
  const hook = defineHook({
    hook: 'on_agent_end',
    id,
    priority: PRIORITY,
    async execute(state, { status, text }, memory?: HookMemory) {
      if (status !== 'idle' || text === null) return;
      const { messages } = await state.getMessages({ limit: 100, order: 'desc' });
      const question = messages.find(
        ({ role, content, metadata }) => role === 'user' && content && metadata.queued !== true,
      );
      if (!question?.content) return;
      await memory?.note({ asked: toNoteText(question.content), answered: toNoteText(text) }, most);
    },
  });
  return markDefinition({ ...hook, memory: true as const }, []);
}

function recall(id: string, most: number, ofUser: boolean): HookDefinition<'prefilter_llm_history'> {
  const hook = defineHook({
    hook: 'prefilter_llm_history',
    id,
    priority: PRIORITY,
    async execute(_state, messages, memory?: HookMemory) {
      const last = messages.findLastIndex(({ role }) => role === 'user');
      const question = last < 0 ? undefined : messages[last];
      if (!question || !memory) return;
      const shown = messages.map(textOf).map(toNoteText);
      const notes = await memory.recall(ofUser ? 'user' : 'thread');
      // A note whose question is shown anyway is not recalled.
      const unseen = notes.filter(({ asked }) => !shown.includes(asked));
      const found = rank(unseen, textOf(question)).slice(0, most);
      if (found.length === 0) return;
      return [...messages.slice(0, last), toReminder(found), ...messages.slice(last)];
    },
  });
  return markDefinition({ ...hook, memory: true as const }, []);
}

function toNoteText(text: string): string {
  return text.replace(/\s+/g, ' ').trim().slice(0, NOTE_CHARS);
}

/** Returns the notes that share a word with the question, best first. A word that few notes have weighs more. */
function rank(notes: readonly MemoryNote[], question: string): readonly MemoryNote[] {
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

/** Returns the words of four or more letters or digits: shorter ones rarely distinguish questions. */
function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]{4,}/gu) ?? []);
}

function textOf({ content }: LLMMessage): string {
  if (typeof content === 'string' || content === null) return content ?? '';
  return content.map((part) => (part.type === 'text' ? part.text : '')).join(' ');
}

function toReminder(notes: readonly MemoryNote[]): LLMMessage {
  const from = notes.every(({ own }) => own) ? 'Earlier in this conversation' : 'From earlier conversations';
  const lines = notes.map(({ asked, answered }) => `- Asked: ${asked}\n  Answered: ${answered}`);
  return { role: 'user', content: `[memory] ${from}:\n${lines.join('\n')}` };
}
