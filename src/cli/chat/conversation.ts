/** One thread in a terminal: sends a line, shows the answer, can be stopped meanwhile. */
import { randomUUID } from 'node:crypto';
import type { RuntimeClient } from '../../client/runtime-client.ts';
import { AnswerPrinter } from '../answer/answer-printer.ts';
import { tellWaits } from '../answer/tell-waits.ts';
import { exitOfThread, waitForAnswer } from '../answer/wait-for-answer.ts';
import { EXIT } from '../exit.ts';
import { dimNote } from '../output/output.ts';

export interface ConversationOptions {
  readonly agent: string;
  /** Absent: the first line starts a new thread. */
  readonly threadId?: string;
  readonly userId?: string;
  /** Number of the last event that was shown. */
  readonly after?: number;
  readonly quiet: boolean;
}

export class Conversation {
  readonly #client: RuntimeClient;
  readonly #options: ConversationOptions;
  #threadId: string | undefined;
  #after: number;
  #over = false;
  #stopping = false;

  constructor(client: RuntimeClient, options: ConversationOptions) {
    this.#client = client;
    this.#options = options;
    this.#threadId = options.threadId;
    this.#after = options.after ?? 0;
  }

  get threadId(): string | undefined {
    return this.#threadId;
  }

  /** The thread is terminated and accepts no more messages. */
  get over(): boolean {
    return this.#over;
  }

  /** Answers the exit code that this answer would have in a script. */
  async say(content: string): Promise<number> {
    this.#stopping = false;
    const id = randomUUID();
    const threadId = await this.#send(id, content);
    const record = await waitForAnswer({
      client: this.#client,
      threadId,
      after: this.#after,
      sent: id,
      sink: new AnswerPrinter({ quiet: this.#options.quiet }),
    });
    this.#after = record.lastSeq;
    this.#over = record.status === 'terminated';
    if (record.status === 'waiting') tellWaits(await this.#client.listWaits({ threadId }));
    const exitCode = exitOfThread(record);
    if (exitCode === EXIT.failed) dimNote('The thread goes on: say something else, or the same again.');
    return exitCode;
  }

  async stop(): Promise<void> {
    if (this.#threadId === undefined || this.#stopping) return;
    this.#stopping = true;
    await this.#client.stop(this.#threadId, 'stopped in the chat');
  }

  async #send(id: string, content: string): Promise<string> {
    if (this.#threadId !== undefined) {
      await this.#client.queueMessage(this.#threadId, { id, content });
      return this.#threadId;
    }
    const { agent, userId } = this.#options;
    const { threadId } = await this.#client.startThread({ agent, userId, messages: [{ id, content }] });
    this.#threadId = threadId;
    if (!this.#options.quiet) dimNote(`Thread ${threadId}`);
    return threadId;
  }
}
