/**
 * Models under Protolink's names, on top of the engine's definitions; and single questions to a model, without an
 * agent.
 */
import { randomUUID } from 'node:crypto';
import type { ProviderFactory } from '../../core/message/provider.ts';
import { definedFields } from '../../core/value/record.ts';
import { ownAnswer } from '../../models/own-answer.ts';
import type { EngineOptions } from '../../worker/in-process.ts';
import { Agent, type AgentOptions } from './agent.ts';
import type { AgentTool, RunTool } from './agent-tool.ts';
import type { Fields } from './artifact.ts';
import type { LlmDefinition } from './definitions.ts';
import type { RunContext } from './run-context.ts';
import { Task } from './task.ts';

/** Properties of a model. Costs are in USD. */
export interface LLMModelProfile {
  /** Tokens. */
  readonly contextWindow?: number;
  readonly inputCostPerMillion?: number;
  readonly outputCostPerMillion?: number;
}

export interface LLMOptions extends Partial<Omit<LlmDefinition, 'provider'>> {
  /** The answer of `mock` to every request; `mock response` unless given. */
  readonly defaultResponse?: string;
}

export interface InferOptions extends EngineOptions, Pick<AgentOptions, 'policy' | 'approvalHandler'> {
  readonly query: string;
  /** Tools by name. */
  readonly tools?: Readonly<Record<string, Omit<AgentTool, 'name'> & { readonly run: RunTool }>>;
  readonly runContext?: RunContext;
  /** Receives the events of the loop: each has an `llm_event_type`, and that of a request also its `manifest`. */
  readonly eventCallback?: (event: Fields) => void;
}

/**
 * A model, for an agent or for single questions.
 * @example
 * ```ts
 * const llm = createLlm('mock', { defaultResponse: 'done' }).configureMetrics({ contextWindow: 8192 });
 * const agent = new Agent({ name: 'worker', description: 'Worker' }, { llm });
 * const runContext = new RunContext({ budget: { maxSteps: 4 } });
 * console.log(await llm.infer({ query: 'Summarize this context', runContext }));
 * ```
 */
export class LLM {
  /** Definition for `defineModel`. */
  definition: LlmDefinition;
  readonly #askers: Asker[] = [];

  constructor(definition: LlmDefinition) {
    this.definition = definition;
  }

  /** Sets properties of the model; call it before the first use. */
  configureMetrics(profile: LLMModelProfile): this {
    const {
      contextWindow: maxContextTokens,
      inputCostPerMillion: inputPrice,
      outputCostPerMillion: outputPrice,
    } = profile;
    const capabilities = { ...this.definition.capabilities, ...definedFields({ maxContextTokens }) };
    this.definition = { ...this.definition, ...definedFields({ inputPrice, outputPrice }), capabilities };
    return this;
  }

  /**
   * Asks the model one question, in a loop with tools if some are given. It runs in a thread that is created for it, by
   * the same rules, approvals and limits, and terminated after the answer; its record stays. Questions with the same
   * options share a worker, which ends a second after the last one. Throws as `Agent.executeTask` does.
   */
  async infer({ query, runContext, eventCallback, ...terms }: InferOptions): Promise<string> {
    const task = Task.createInfer({ prompt: query });
    runContext?.attachToTask(task);
    const asker = await this.#lend(terms);
    try {
      await asker.agent.executeTask(task, ({ type, payload }) => {
        if (type === 'llm.stream') eventCallback?.(payload);
      });
      return task.answer;
    } catch (error) {
      // Its worker may not have started: the next question gets another one.
      asker.isSpent = true;
      throw error;
    } finally {
      // A task that could not begin has no thread to terminate.
      await asker.agent.retireTask(task.id).catch(() => undefined);
      await this.#giveBack(asker);
    }
  }

  /** Ends the worker of its questions now. */
  async close(): Promise<void> {
    for (const asker of [...this.#askers]) await this.#end(asker);
  }

  /** Questions of the same terms share an agent; another one that is at rest ends. */
  async #lend(terms: AskTerms): Promise<Asker> {
    const found = this.#askers.find((asker) => !asker.isSpent && hasTerms(asker, terms));
    if (found) {
      found.questions += 1;
      clearTimeout(found.resting);
      return found;
    }
    const asker = openAsker(this, terms);
    const resting = this.#askers.filter(({ questions }) => questions === 0);
    this.#askers.push(asker);
    for (const one of resting) await this.#end(one);
    return asker;
  }

  /** Keeps the agent for a while, unless its caller may close what it works on as soon as there is an answer. */
  async #giveBack(asker: Asker): Promise<void> {
    asker.questions -= 1;
    if (asker.questions > 0) return;
    const { store, server } = asker.terms;
    if (asker.isSpent || typeof store === 'object' || server) return this.#end(asker);
    asker.resting = setTimeout(() => this.#end(asker).catch(() => undefined), REST_MS);
  }

  async #end(asker: Asker): Promise<void> {
    clearTimeout(asker.resting);
    const place = this.#askers.indexOf(asker);
    if (place >= 0) this.#askers.splice(place, 1);
    await asker.agent.close();
  }
}

type AskTerms = Omit<InferOptions, 'query' | 'runContext' | 'eventCallback'>;

/** An agent that asks its model questions: a worker of this process. */
interface Asker {
  readonly agent: Agent;
  readonly terms: AskTerms;
  /** Number of questions that are open. */
  questions: number;
  isSpent: boolean;
  resting?: NodeJS.Timeout;
}

/** Milliseconds for which a worker without questions is kept: longer than it takes to start one. */
const REST_MS = 1000;

function openAsker(llm: LLM, terms: AskTerms): Asker {
  const { tools = {}, ...options } = terms;
  // Only this process has its tools, so it has its own queue.
  const taskQueue = `protolink-infer-${randomUUID()}`;
  const agent = new Agent({ name: 'infer', description: 'Answer.' }, { taskQueue, ...options, llm });
  for (const [name, { run, ...tool }] of Object.entries(tools)) agent.tool({ ...tool, name }, run);
  return { agent, terms, questions: 1, isSpent: false };
}

function hasTerms({ terms }: Asker, given: AskTerms): boolean {
  const names = new Set([...Object.keys(terms), ...Object.keys(given)]) as Set<keyof AskTerms>;
  return [...names].every((name) => terms[name] === given[name]);
}

/**
 * Creates a model by its provider: a factory of `everthread/models`, or `mock`, which sends no requests and gives the
 * same answer every time.
 * @example
 * ```ts
 * const llm = createLlm('mock', { defaultResponse: 'done' });
 * ```
 */
export function createLlm(provider: 'mock' | ProviderFactory, options: LLMOptions = {}): LLM {
  const { defaultResponse = 'mock response', model = 'mock', ...definition } = options;
  const factory = provider === 'mock' ? ownAnswer('mock', () => defaultResponse) : provider;
  return new LLM({ ...definition, model, provider: factory });
}
