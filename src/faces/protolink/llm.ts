/**
 * Models under Protolink's names, on top of the engine's definitions; and single questions to a model, without an
 * agent.
 */
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
   * the same rules, approvals and limits, and terminated after the answer; its record stays. Throws as
   * `Agent.executeTask` does.
   */
  async infer({ query, tools = {}, runContext, eventCallback, ...options }: InferOptions): Promise<string> {
    const task = Task.createInfer({ prompt: query });
    runContext?.attachToTask(task);
    // Only this process has its tools, so it has its own queue.
    const taskQueue = `protolink-infer-${task.id}`;
    const agent = new Agent({ name: 'infer', description: 'Answer.' }, { taskQueue, ...options, llm: this });
    for (const [name, { run, ...tool }] of Object.entries(tools)) agent.tool({ ...tool, name }, run);
    try {
      await agent.executeTask(task, ({ type, payload }) => {
        if (type === 'llm.stream') eventCallback?.(payload);
      });
      return task.answer;
    } finally {
      // A task that could not begin has no thread to terminate.
      await agent.retireTask(task.id).catch(() => undefined);
      await agent.close();
    }
  }
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
