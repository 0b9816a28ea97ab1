/** Models under the page's names, over the engine's definitions; and a question to one, without an agent. */
import type { ProviderFactory } from '../core/message/provider.ts';
import { ownAnswer } from '../models/own-answer.ts';
import type { EngineOptions } from '../worker/in-process.ts';
import { Agent, type AgentOptions, type LlmDefinition } from './agent.ts';
import type { AgentTool, RunTool } from './agent-tool.ts';
import type { Fields } from './artifact.ts';
import type { RunContext } from './run-context.ts';
import { Task } from './task.ts';

/** What is known of a model. Costs are in USD. */
export interface LLMModelProfile {
  /** Tokens. */
  readonly contextWindow?: number;
  readonly inputCostPerMillion?: number;
  readonly outputCostPerMillion?: number;
}

export interface LLMOptions extends Partial<Omit<LlmDefinition, 'provider'>> {
  /** What `mock` answers, each time; `mock response` unless given. */
  readonly defaultResponse?: string;
}

export interface InferOptions extends EngineOptions, Pick<AgentOptions, 'policy' | 'approvalHandler'> {
  readonly query: string;
  /** By name. */
  readonly tools?: Readonly<Record<string, Omit<AgentTool, 'name'> & { readonly run: RunTool }>>;
  readonly runContext?: RunContext;
  /** Told what its loop does: each has an `llm_event_type`, that of a request also its `manifest`. */
  readonly eventCallback?: (event: Fields) => void;
}

/**
 * A model of an agent, or one to be asked by itself.
 * @example
 * ```ts
 * const llm = createLlm('mock', { defaultResponse: 'done' }).configureMetrics({ contextWindow: 8192 });
 * const agent = new Agent({ name: 'worker', description: 'Worker' }, { llm });
 * const runContext = new RunContext({ budget: { maxSteps: 4 } });
 * console.log(await llm.infer({ query: 'Summarize this context', runContext }));
 * ```
 */
export class LLM {
  /** As `defineModel` takes it. */
  definition: LlmDefinition;

  constructor(definition: LlmDefinition) {
    this.definition = definition;
  }

  /** Before its first use. */
  configureMetrics(profile: LLMModelProfile): this {
    const {
      contextWindow: maxContextTokens,
      inputCostPerMillion: inputPrice,
      outputCostPerMillion: outputPrice,
    } = profile;
    const capabilities = { ...this.definition.capabilities, ...given({ maxContextTokens }) };
    this.definition = { ...this.definition, ...given({ inputPrice, outputPrice }), capabilities };
    return this;
  }

  /**
   * Asks it one question, with a loop of tools where there are some: a thread that is made for it, by the same rules, approvals and limits, and that
   * ends with its answer; its record stays. Throws as `Agent.executeTask`.
   */
  async infer({ query, tools = {}, runContext, eventCallback, ...options }: InferOptions): Promise<string> {
    const task = Task.createInfer({ prompt: query });
    runContext?.attachToTask(task);
    // Its tools are of this process alone, so is the queue.
    const taskQueue = `protolink-infer-${task.id}`;
    const agent = new Agent({ name: 'infer', description: 'Answer.' }, { taskQueue, ...options, llm: this });
    for (const [name, { run, ...tool }] of Object.entries(tools)) agent.tool({ ...tool, name }, run);
    try {
      await agent.executeTask(task, ({ type, payload }) => {
        if (type === 'llm.stream') eventCallback?.(payload);
      });
      return task.answer;
    } finally {
      // What could not begin has no thread to end.
      await agent.retireTask(task.id).catch(() => undefined);
      await agent.close();
    }
  }
}

/**
 * A model by its provider: a factory of `everthread/models`, or `mock`, which asks nobody and answers the same each time.
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

/** What is said, and nothing for what is not. */
function given(fields: Readonly<Record<string, number | undefined>>): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
