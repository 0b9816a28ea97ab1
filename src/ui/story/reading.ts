/**
 * Reads one thread for the page: the newest part of its log first, earlier parts when somebody scrolls to them, and what
 * happens from then on as a stream.
 * - A tab has at most one stream, and none while it is hidden: browsers allow six connections to a server for all tabs.
 *   A reading resumes behind its last row, so nothing is doubled and nothing is missing.
 * - What arrives is shown once a frame, however much it is.
 */
import { signal } from '@preact/signals';
import type { Answers } from '../../client/http/answers.ts';
import { liveLines } from '../../client/http/live-lines.ts';
import type { ThreadEvent } from '../../core/event/thread-event.ts';
import { ask, connection } from '../session/session.ts';
import { abortWhenHidden, whenVisible } from '../session/visibility.ts';
import { PIECES, StoryLog } from './log.ts';
import { type NoteItem, type StoryRow, toNote } from './story-line.ts';

export type Thread = Answers['GET /v1/threads/{threadId}'];
export type Message = Answers['GET /v1/threads/{threadId}/messages']['messages'][number];
export type Wait = Answers['GET /v1/waits']['waits'][number];

/** Rows of the log that are read at first, and each time that somebody asks for earlier ones. */
const PART = 1500;
const PAGE = 1000;
/** Items that fill a large screen. */
const SCREENFUL = 40;
const MESSAGE_PAGE = 200;
/** More messages than this at once are read as a page, and not one by one. */
const SINGLE_READS = 5;
const REFRESH_MS = 250;

export class ThreadReading {
  readonly threadId: string;
  readonly thread = signal<Thread | null>(null);
  readonly waits = signal<readonly Wait[]>([]);
  readonly failure = signal<unknown>(null);
  readonly loading = signal(true);
  /** Counts what has changed in `log`, `messages` and `notes`. */
  readonly changes = signal(0);
  readonly log = new StoryLog();
  readonly messages = new Map<string, Message>();
  notes: NoteItem[] = [];
  /** The story is shown from this number of the log on; 1: from its beginning. */
  from = 1;
  readonly #closing = new AbortController();
  readonly #wanted = new Set<string>();
  #noteCursor = '';
  #frame = false;
  #refreshing = false;

  constructor(threadId: string) {
    this.threadId = threadId;
  }

  /** `live`: false for one that is read again when its owner asks for it. */
  async open(live: boolean): Promise<void> {
    try {
      const thread = await ask('GET /v1/threads/{threadId}', { threadId: this.threadId });
      this.thread.value = thread;
      const after = Math.max(0, thread.lastSeq - PART);
      this.from = after + 1;
      this.#noteCursor = storyAfter(after);
      for (const row of await this.#rows(after, thread.lastSeq)) this.log.add(row);
      const end = thread.lastSeq;
      await Promise.all([
        this.#readMessages(),
        this.#readNotes(),
        this.#readWaits(),
        this.#readFirstTokens(),
      ]);
      this.changes.value += 1;
      this.loading.value = false;
      if (live) void this.#follow(end);
      while (this.from > 1 && this.log.items.length < SCREENFUL && !this.#closing.signal.aborted)
        await this.readEarlier();
    } catch (error) {
      this.#fail(error);
    }
  }

  close(): void {
    this.#closing.abort();
  }

  /** Reads what has been added since. */
  async update(): Promise<void> {
    const rows = await this.#rows(this.log.lastSeq, Number.POSITIVE_INFINITY).catch(() => []);
    for (const row of rows) this.#take(row);
  }

  /** Reads what was before the part that is shown. */
  async readEarlier(): Promise<void> {
    if (this.from <= 1 || this.loading.value) return;
    this.loading.value = true;
    try {
      const last = this.from - 1;
      const after = Math.max(0, last - PART);
      this.log.prepend(await this.#rows(after, last));
      this.from = after + 1;
      const notes = await this.#storyPage(storyAfter(after), last);
      this.notes = [...notes, ...this.notes];
      await Promise.all([this.#readMessages(), this.#readFirstTokens()]);
      this.#show();
    } catch (error) {
      this.#fail(error);
    } finally {
      this.loading.value = false;
    }
  }

  /** Rows behind `after`, up to `last`. */
  async #rows(after: number, last: number): Promise<readonly ThreadEvent[]> {
    const rows: ThreadEvent[] = [];
    for (let cursor = String(after); ; ) {
      const query = { after: cursor, limit: PAGE };
      const page = await ask('GET /v1/threads/{threadId}/events', { threadId: this.threadId }, { query });
      const found = page.events as readonly ThreadEvent[];
      rows.push(...found.filter(({ seq }) => seq <= last));
      cursor = page.cursor;
      if (!page.more || Number(cursor) >= last) return rows;
    }
  }

  async #follow(end: number): Promise<void> {
    const { signal: closed } = this.#closing;
    let after = end;
    const path = `/v1/threads/${encodeURIComponent(this.threadId)}/events`;
    while (!closed.aborted) {
      await whenVisible(closed);
      const hidden = abortWhenHidden();
      try {
        const reading = { path, query: {}, after: String(after), follow: true };
        const signal = AbortSignal.any([closed, hidden.signal]);
        for await (const { event, cursor } of liveLines(connection(), { ...reading, signal })) {
          after = Number(cursor);
          this.#take(event as ThreadEvent);
        }
        if (!hidden.signal.aborted) return;
      } catch (error) {
        this.#fail(error);
        return;
      } finally {
        hidden.stop();
      }
    }
  }

  #take(row: ThreadEvent): void {
    if (!this.log.add(row)) return;
    if (row.type !== PIECES) {
      const { messageId } = row.data as { readonly messageId?: string };
      if (messageId !== undefined && row.type !== 'message.deleted') this.#wanted.add(messageId);
      void this.#refresh();
    }
    this.#show();
  }

  /** Reads what the rows only name: messages, sentences, the thread's own record, and what it waits for. */
  async #refresh(): Promise<void> {
    if (this.#refreshing) return;
    this.#refreshing = true;
    await new Promise((resolve) => setTimeout(resolve, REFRESH_MS));
    this.#refreshing = false;
    if (this.#closing.signal.aborted) return;
    try {
      const thread = ask('GET /v1/threads/{threadId}', { threadId: this.threadId });
      await Promise.all([this.#readWanted(), this.#readNotes(), this.#readWaits()]);
      this.thread.value = await thread;
    } catch (error) {
      this.#fail(error);
    }
    this.#show();
  }

  /** Also those of its descendants that block it. */
  async #readWaits(): Promise<void> {
    const { waits } = await ask('GET /v1/waits', {}, { query: { threadId: this.threadId } });
    this.waits.value = waits;
  }

  async readWaits(): Promise<void> {
    await this.#readWaits().catch((error: unknown) => this.#fail(error));
  }

  async #readWanted(): Promise<void> {
    const ids = [...this.#wanted];
    this.#wanted.clear();
    if (ids.length > SINGLE_READS) return this.#readMessages(ids);
    await Promise.all(
      ids.map(async (messageId) => {
        const asked = { threadId: this.threadId, messageId };
        const message = await ask('GET /v1/threads/{threadId}/messages/{messageId}', asked).catch(() => null);
        if (message) this.messages.set(messageId, message);
      }),
    );
  }

  /** Reads pages of messages, newest first, until they reach back to the first one that the story names. */
  async #readMessages(ids?: readonly string[]): Promise<void> {
    const missing = new Set(ids ?? this.#missing());
    const first = this.log.rows[0]?.at ?? 0;
    // Those that were read are the newest ones: earlier ones lie behind them.
    const begin = ids ? 0 : Math.max(0, this.messages.size - MESSAGE_PAGE);
    for (let offset = begin; missing.size > 0; offset += MESSAGE_PAGE) {
      const query = { limit: MESSAGE_PAGE, offset, order: 'desc', includeSilent: true, maxDepth: 20 };
      const asked = { threadId: this.threadId };
      const page = await ask('GET /v1/threads/{threadId}/messages', asked, { query });
      for (const message of page.messages) {
        this.messages.set(message.id, message);
        missing.delete(message.id);
      }
      const last = page.messages.at(-1);
      if (!page.hasMore || !last || last.created_at < first) return;
    }
  }

  /** When models began to answer: the log has it in the pieces of answers alone, which are not kept for long. */
  async #readFirstTokens(): Promise<void> {
    const first = this.log.items.find((item) => item.kind === 'step');
    if (first?.kind !== 'step') return;
    const query = { after: `${first.step}.0.0`, limit: PAGE };
    const asked = { threadId: this.threadId };
    const { modelCalls } = await ask('GET /v1/threads/{threadId}/model-calls', asked, { query });
    for (const { id, firstTokenAt } of modelCalls)
      if (firstTokenAt !== null) this.log.noteFirstToken(id, firstTokenAt);
  }

  #missing(): readonly string[] {
    const named = this.log.items.flatMap((item) => {
      if (item.kind === 'message') return item.deleted ? [] : [item.messageId];
      return item.kind === 'tool' && item.resultId !== null ? [item.resultId] : [];
    });
    return named.filter((id) => !this.messages.has(id));
  }

  async #readNotes(): Promise<void> {
    const notes = await this.#storyPage(this.#noteCursor, Number.POSITIVE_INFINITY, (cursor) => {
      this.#noteCursor = cursor;
    });
    const last = this.notes.at(-1)?.seq ?? 0;
    this.notes.push(...notes.filter(({ seq }) => seq > last));
  }

  async #storyPage(
    after: string,
    last: number,
    keep: (cursor: string) => void = () => undefined,
  ): Promise<NoteItem[]> {
    const notes: NoteItem[] = [];
    for (let cursor = after; ; ) {
      const query = { as: 'story', after: cursor, limit: PAGE };
      const asked = { threadId: this.threadId };
      const page = await ask('GET /v1/threads/{threadId}/events', asked, { query });
      for (const row of page.events as readonly StoryRow[]) {
        const note = row.seq <= last ? toNote(row) : null;
        if (note) notes.push(note);
      }
      cursor = page.cursor;
      keep(cursor);
      if (!page.more || Number.parseInt(cursor, 10) >= last) return notes;
    }
  }

  #show(): void {
    if (this.#frame) return;
    this.#frame = true;
    const show = () => {
      this.#frame = false;
      this.changes.value += 1;
    };
    // A hidden page has no frames.
    if (document.hidden) setTimeout(show, 100);
    else requestAnimationFrame(show);
  }

  #fail(error: unknown): void {
    if (this.#closing.signal.aborted) return;
    this.failure.value = error;
    this.loading.value = false;
  }
}

/** The cursor of the story behind a row of the log. */
const storyAfter = (row: number): string => (row === 0 ? '0' : `${row}.999999999`);
