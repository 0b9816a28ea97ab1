/**
 * The part of the AI SDK's language models that is used here, by shape: versions v2, v3 and v4 of the interface fit. Own types,
 * so that neither this package nor its .d.ts files need `@ai-sdk/provider`; a test compares them with the real ones.
 * What differs between the versions is `unknown` here and read defensively.
 */

export interface AiSdkLanguageModel {
  /** `v2`, `v3` or `v4`. */
  readonly specificationVersion: string;
  /** Such as `openai.chat`: the part before the dot is the key of the provider's own options. */
  readonly provider: string;
  readonly modelId: string;
  doGenerate(options: AiSdkCallOptions): PromiseLike<AiSdkAnswer>;
  doStream(options: AiSdkCallOptions): PromiseLike<{ readonly stream: AiSdkStream }>;
}

export interface AiSdkCallOptions {
  prompt: readonly unknown[];
  tools?: readonly unknown[];
  toolChoice?: object;
  maxOutputTokens?: number;
  temperature?: number;
  topP?: number;
  topK?: number;
  stopSequences?: readonly string[];
  responseFormat?: object;
  reasoning?: string;
  providerOptions?: Readonly<Record<string, unknown>>;
  abortSignal?: AbortSignal;
  headers?: Readonly<Record<string, string | undefined>>;
}

export interface AiSdkAnswer {
  readonly content: readonly AiSdkPart[];
  /** v4: `{ unified, raw }`; earlier: the word itself. */
  readonly finishReason: unknown;
  /** v3 and later: nested counts; earlier: flat ones. */
  readonly usage: unknown;
  readonly providerMetadata?: unknown;
  readonly response?: { readonly id?: string };
}

/** A part of an answer or of a stream; its fields depend on `type`. */
export interface AiSdkPart {
  readonly type: string;
  readonly id?: string;
  readonly text?: string;
  readonly delta?: string;
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly input?: unknown;
  readonly providerExecuted?: boolean;
  readonly result?: unknown;
  readonly isError?: boolean;
  /** True for a result that a later one replaces. */
  readonly preliminary?: boolean;
  /** What a part is that only its provider knows. */
  readonly kind?: string;
  /** By provider; signatures and the like, which the provider needs back with the part. */
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly finishReason?: unknown;
  readonly usage?: unknown;
  readonly error?: unknown;
}

/** A web ReadableStream; not every environment's types declare its iterator. */
export interface AiSdkStream {
  getReader(): {
    read(): Promise<{ readonly done: boolean; readonly value?: AiSdkPart }>;
    cancel(): Promise<void>;
  };
}
