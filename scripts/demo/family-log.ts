/**
 * Follows the event logs of a whole family: the root's, and each child's from the moment its parent reports it.
 * Speakers are shown with their names in the family.
 */
import type { RuntimeClient } from '../../src/client/runtime-client.ts';
import type { ThreadEvent } from '../../src/core/event/thread-event.ts';
import type { Message } from '../../src/core/message/message.ts';
import { shorten, toToolCalls } from './narrator.ts';
import type { Screen, Speaker } from './screen.ts';
import { ThreadLog } from './thread-log.ts';

const SHOWN_CHARACTERS = 260;

export interface Cast {
  /** The names of side A and of side B. */
  readonly a: string;
  readonly b: string;
}

export interface Relative {
  readonly threadId: string;
  readonly cast: Cast;
  readonly log: ThreadLog;
}

export class FamilyLog {
  readonly relatives: Relative[] = [];
  readonly #screen: Screen;
  readonly #client: RuntimeClient;

  constructor(screen: Screen, client: RuntimeClient, threadId: string, cast: Cast) {
    this.#screen = screen;
    this.#client = client;
    this.#follow(threadId, cast);
  }

  get root(): Relative {
    return this.relatives[0] as Relative;
  }

  get children(): readonly Relative[] {
    return this.relatives.slice(1);
  }

  async close(): Promise<void> {
    await Promise.all(this.relatives.map(({ log }) => log.close()));
  }

  #follow(threadId: string, cast: Cast): void {
    const log = new ThreadLog(this.#client, threadId, (event) => this.#tell(threadId, cast, event));
    this.relatives.push({ threadId, cast, log });
  }

  async #tell(threadId: string, cast: Cast, event: ThreadEvent): Promise<void> {
    switch (event.type) {
      case 'subagent.created': {
        const { childId, name } = event.data;
        this.#screen.say('family', `a thread of its own: ${childId}`, name ?? '');
        return this.#follow(childId, { a: name ?? '', b: `${name ?? ''}'s skeptic` });
      }
      case 'subagent.returned':
      case 'subagent.failed':
        return this.#screen.say(
          'family',
          `${event.type} ${this.#nameOf(event.data.childId)} → the coordinator`,
          'report',
        );
      case 'step.committed':
        return this.#speak(cast, await this.#client.getMessage(threadId, event.data.messageId));
      case 'step.failed':
        return this.#screen.say('note', `${cast.a}: ${event.data.message}`);
      default:
        return undefined;
    }
  }

  #nameOf(childId: unknown): string {
    return this.children.find(({ threadId }) => threadId === childId)?.cast.a ?? String(childId);
  }

  #speak(cast: Cast, message: Message | null): void {
    if (!message) return;
    // The role is the author's (definitions §15.1): side A writes as assistant.
    const isA = message.role === 'assistant';
    const speaker: Speaker = isA ? 'librarian' : 'reviewer';
    const text = (message.content ?? '').replace(/\s+/g, ' ').trim();
    if (text !== '') this.#screen.say(speaker, shorten(text, SHOWN_CHARACTERS), isA ? cast.a : cast.b);
    for (const call of toToolCalls(message)) {
      this.#screen.say(
        'tool',
        `${call.function.name} ${shorten(call.function.arguments, 70)}`,
        isA ? cast.a : cast.b,
      );
    }
  }
}
