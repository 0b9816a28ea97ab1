/**
 * The provider port (definitions §5): what a model backend looks like to the runtime.
 * Types alone; backends live in `models`. `specificationVersion` is '1'.
 */

import type { AnswerParts } from './answer-parts.ts';
import type {
  LengthRefusal,
  ProviderConfigSlot,
  ProviderFactoryConfig,
  ProviderImage,
  ProviderModelCapabilities,
  ProviderOwnTool,
  ProviderToolCall,
  ProviderUsage,
  ReasoningDetail,
  SafeParseResult,
} from './provider-terms.ts';

export type { ProviderUsage } from './provider-terms.ts';

/**
 * Creates a provider, once for each model and configuration in a process. Its settings are variables of the thread
 * (definitions §16), else of the worker's environment.
 */
export interface ProviderFactory {
  (config: ProviderFactoryConfig): Provider;
  /** A zod schema for a model's own options. */
  readonly providerOptions?: { safeParse(value: unknown): SafeParseResult };
  /** By name; `{}` declares none. Default: `apiKey`, `baseUrl`, from `<FACTORY>_API_KEY`, `<FACTORY>_BASE_URL`. */
  readonly configSlots?: Readonly<Record<string, ProviderConfigSlot>>;
  /**
   * Everthread's own: says that models are those of known services by their ids, so that lists of prices apply where a definition names
   * none. `apiUrl`: the service's address, if it is known.
   */
  readonly pricedAs?: () => { readonly apiUrl?: string };
}

export interface Provider {
  readonly name: string;
  readonly specificationVersion: '1';
  /**
   * What the provider's rate limits count by, such as its address and a digest of the key; never the key itself.
   * Requests for one model of providers with the same text are held back together. Default: the factory and its config.
   */
  readonly rateScope?: string;
  generate(request: ProviderRequest): Promise<ProviderResponse>;
  /** Rejects or yields an `error` chunk on failure; ends after `finish`. */
  stream(request: ProviderRequest): Promise<AsyncIterable<ProviderStreamChunk>>;
  /** If it returns false, the model is not called; its fallback is. */
  supportsModel?(modelId: string): boolean;
  /** Called once; capabilities in the model's definition take precedence. */
  getModelCapabilities?(modelId: string): Promise<ProviderModelCapabilities | null>;
  /** Returns the tools that the provider runs itself, by name. Called once. */
  getTools?(
    modelId?: string,
  ): Readonly<Record<string, ProviderOwnTool>> | Promise<Readonly<Record<string, ProviderOwnTool>>>;
}

export interface ProviderRequest {
  readonly model: string;
  readonly messages: readonly ProviderMessage[];
  readonly tools?: readonly ProviderTool[];
  readonly toolChoice?: 'auto' | 'none' | 'required' | { readonly name: string };
  readonly parallelToolCalls?: boolean;
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly stopSequences?: readonly string[];
  readonly reasoning?: ReasoningRequest;
  readonly responseFormat?: unknown;
  readonly providerOptions?: Readonly<Record<string, unknown>>;
  /** Names of providers that a routing provider may choose from (`includedProviders` of the model); any if absent. */
  readonly includedProviders?: readonly string[];
  /** Stable id of the end user or thread, for sticky routing. */
  readonly user?: string;
  readonly signal?: AbortSignal;
}

export interface ReasoningRequest {
  /** 0 to 100. */
  readonly level?: number;
  /** The provider's own value for the level, from the model's `reasoningLevels`; null turns reasoning off. */
  readonly effort?: string | null;
  readonly maxTokens?: number;
  /** True if reasoning must not be returned. */
  readonly exclude?: boolean;
}

export type ProviderMessage =
  | { readonly role: 'system'; readonly content: string }
  | { readonly role: 'user'; readonly content: string | readonly ContentPart[] }
  | {
      readonly role: 'assistant';
      readonly content: string | null;
      readonly toolCalls?: readonly ProviderToolCall[];
      readonly reasoning?: string;
      /** In the form in which the provider returned them with the answer, for its own use. */
      readonly reasoningDetails?: readonly ReasoningDetail[];
      /** As the provider returned them with the answer. They go back to the same model alone (`origin`). */
      readonly parts?: AnswerParts;
    }
  | {
      readonly role: 'tool';
      readonly toolCallId: string;
      readonly toolName: string;
      readonly content: string | { type: 'text'; text: string } | { type: 'error'; error: string };
      /** Images of the result. */
      readonly attachments?: readonly ContentPart[];
    };

export type ContentPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly data: string; readonly mediaType: string; readonly detail?: string }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string } }
  | {
      readonly type: 'file';
      readonly data: string;
      readonly mediaType: string;
      readonly filename?: string;
    };

export interface ProviderTool {
  readonly type: 'function';
  readonly function: {
    readonly name: string;
    readonly description: string;
    /** JSON schema. */
    readonly parameters: Readonly<Record<string, unknown>>;
  };
  /** `provider`: the provider runs it; its name is then the provider's own. */
  readonly executionMode?: 'local' | 'provider';
  /** The provider that runs it; any if absent. */
  readonly executionProvider?: string;
  /** Settings of a tool that the provider runs. */
  readonly options?: Readonly<Record<string, unknown>>;
}

/** A tool that the provider has run itself, within its answer. */
export interface ExecutedProviderTool {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly provider: string;
  readonly status: 'completed' | 'failed' | 'in_progress';
  readonly input?: unknown;
  readonly result?: unknown;
  readonly metadata?: unknown;
}

export type FinishReason = 'stop' | 'tool_calls' | 'length' | 'content_filter' | 'error';

export interface ProviderResponse {
  readonly content: string | null;
  readonly reasoning?: string | null;
  readonly reasoningDetails?: readonly ReasoningDetail[];
  /** Everthread's own: what the provider needs back with each part, in their order. */
  readonly parts?: AnswerParts;
  readonly toolCalls?: readonly ProviderToolCall[];
  readonly images?: readonly ProviderImage[];
  readonly providerTools?: readonly ExecutedProviderTool[];
  readonly finishReason: FinishReason;
  readonly usage: ProviderUsage;
  readonly responseId?: string;
}

/** Chunks in any order; nothing is read after `finish`. Other kinds are ignored, and named in the log. */
export type ProviderStreamChunk =
  | { readonly type: 'content-delta'; readonly delta: string }
  | { readonly type: 'content-done' }
  | { readonly type: 'reasoning-delta'; readonly delta: string }
  | { readonly type: 'reasoning-done' }
  | {
      readonly type: 'tool-call-start';
      readonly id: string;
      readonly name: string;
      readonly extraContent?: unknown;
    }
  | { readonly type: 'tool-call-delta'; readonly id: string; readonly argumentsDelta: string }
  | {
      readonly type: 'tool-call-done';
      readonly id: string;
      /** Default: the name in the `tool-call-start` with this id. */
      readonly name?: string;
      /** The arguments, or their complete JSON text. Default: the joined deltas with this id. */
      readonly arguments?: string | Readonly<Record<string, unknown>>;
      readonly extraContent?: unknown;
    }
  /** A part of an image that `image-done` delivers as a whole; not kept. */
  | { readonly type: 'image-delta'; readonly index: number; readonly data: string }
  | { readonly type: 'image-done'; readonly index: number; readonly image: ProviderImage }
  /** A search that the provider has run itself. */
  | { readonly type: 'web-search-done'; readonly result: unknown }
  | { readonly type: 'provider-tool-done'; readonly tool: ExecutedProviderTool }
  | {
      readonly type: 'finish';
      readonly finishReason: FinishReason;
      readonly usage: ProviderUsage;
      readonly reasoningDetails?: readonly ReasoningDetail[];
      readonly parts?: AnswerParts;
      readonly responseId?: string;
    }
  | { readonly type: 'error'; readonly error: string; readonly code?: ProviderErrorCode };

export type ProviderErrorCode =
  | 'rate_limit'
  | 'auth_error'
  | 'invalid_request'
  | 'server_error'
  | 'timeout'
  | 'unknown'
  /** Everthread's own: the answer exceeded a limit of docs/operations.md. A fallback is called, not the same model. */
  | 'AnswerTooLarge'
  /** Everthread's own: the provider or its answer violates this contract. A fallback is called, not the same model. */
  | 'InvalidAnswer';

/**
 * The failure of one request. `retryAfter` is in seconds. Recognised by `name` and `code`, not by class.
 * @example
 * ```ts
 * throw new ProviderError('Too many requests.', 'rate_limit', 429, 20); // try again in 20 seconds
 * ```
 */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly code: ProviderErrorCode;
  readonly statusCode: number | undefined;
  readonly retryAfter: number | undefined;
  /** Set if the request was too long: it is sent again smaller. Default: read from the message. */
  readonly tooLong?: LengthRefusal;

  constructor(
    message: string,
    code: ProviderErrorCode,
    statusCode?: number,
    retryAfter?: number,
    options?: { cause?: unknown; tooLong?: LengthRefusal },
  ) {
    super(message, options);
    if (options?.tooLong) this.tooLong = options.tooLong;
    this.code = code;
    this.statusCode = statusCode;
    this.retryAfter = retryAfter;
  }
}
