/** One thread in a terminal: sends a line, shows the answer, and can stop it while it runs. */
import { randomUUID } from 'node:crypto';
import { newThreadId } from '../../client/new-thread-id.ts';
import type { RuntimeClient } from '../../client/runtime-client.ts';
import type { ThreadRecord } from '../../store/thread/thread-record.ts';
import { AnswerPrinter } from '../answer/answer-printer.ts';
import { printWaits } from '../answer/print-waits.ts';
import { toAnswerJson } from '../answer/show-answer.ts';
import { threadExitCode, waitForAnswer } from '../answer/wait-for-answer.ts';
import { EXIT } from '../exit.ts';
import { dimNote, printJsonLine } from '../output/output.ts';
import { type AskPerson, askWaits } from './ask-waits.ts';

export interface ConversationOptions {
  readonly agent: string;
  /** Absent: the first line starts a new thread. */
  readonly threadId?: string;
  readonly userId?: string;
  /** Number of the last event that was shown. */
  readonly after?: number;
  /** True if each answer is printed as a line of JSON instead of text. */
  readonly json: boolean;
  /** Asks a person what the thread waits for. If absent, the waits are printed with the commands that answer them. */
  readonly ask?: AskPerson;
}

export class Conversation {
  readonly #client: RuntimeClient;
  readonly #options: ConversationOptions;
  readonly #threadId: string;
  #hasThread: boolean;
  #lastSeq: number;
  #isTerminated = false;
  #stopping = false;

  constructor(client: RuntimeClient, options: ConversationOptions) {
    this.#client = client;
    this.#options = options;
    this.#threadId = options.threadId ?? newThreadId(options.agent);
    this.#hasThread = options.threadId !== undefined;
    this.#lastSeq = options.after ?? 0;
  }

  /** Id of the thread; for a new thread, the id that it will have. */
  get threadId(): string {
    return this.#threadId;
  }

  /** True if the thread exists. */
  get begun(): boolean {
    return this.#hasThread;
  }

  /** True if the thread is terminated and accepts no more messages. */
  get over(): boolean {
    return this.#isTerminated;
  }

  /** Returns the exit code that this answer would have in a script. */
  async say(content: string): Promise<number> {
    this.#stopping = false;
    const id = randomUUID();
    const threadId = await this.#send(id, content);
    const sink = new AnswerPrinter({ quiet: this.#options.json });
    let record = await this.#show(threadId, sink, id);
    while (record.status === 'waiting' && (await this.#answerWaits(threadId)))
      record = await this.#show(threadId, sink);
    this.#isTerminated = record.status === 'terminated';
    const waits = record.status === 'waiting' ? await this.#client.listWaits({ threadId }) : [];
    if (this.#options.json) printJsonLine(toAnswerJson(record, { sent: id, answer: sink.answer, waits }));
    else printWaits(waits);
    const exitCode = threadExitCode(record);
    if (exitCode === EXIT.failed)
      dimNote('The thread can continue: send another message, or the same one again.');
    return exitCode;
  }

  /** Shows the thread's work until it rests or waits again; `sent` must have arrived by then. */
  async #show(threadId: string, sink: AnswerPrinter, sent?: string): Promise<ThreadRecord> {
    const record = await waitForAnswer({
      client: this.#client,
      threadId,
      after: this.#lastSeq,
      ...(sent === undefined ? {} : { sent }),
      sink,
    });
    this.#lastSeq = record.lastSeq;
    return record;
  }

  /** True if the thread continues: every wait is answered, or the thread is being stopped. */
  async #answerWaits(threadId: string): Promise<boolean> {
    const { ask } = this.#options;
    return ask !== undefined && ((await askWaits(this.#client, threadId, ask)) || this.#stopping);
  }

  async stop(): Promise<void> {
    if (!this.#hasThread || this.#stopping) return;
    this.#stopping = true;
    await this.#client.stop(this.#threadId, 'stopped in the chat');
  }

  async #send(id: string, content: string): Promise<string> {
    const threadId = this.#threadId;
    if (this.#hasThread) {
      await this.#client.queueMessage(threadId, { id, content });
      return threadId;
    }
    const { agent, userId } = this.#options;
    await this.#client.startThread({ agent, threadId, userId, messages: [{ id, content }] });
    this.#hasThread = true;
    return threadId;
  }
}
