/** The messages of a client's conversation, in the form to which every door maps its own. */

export type GivenPart =
  | { readonly kind: 'text'; readonly text: string }
  | GivenFile
  /** What no thread can take; `type` is the door's own word for it, `reason` why this one is not taken. */
  | { readonly kind: 'other'; readonly type: string; readonly reason?: string };

export interface GivenFile {
  readonly kind: 'file';
  /** The door's own word for it, such as `image`. */
  readonly type: string;
  /** A data URL in base64, or an address. */
  readonly url: string;
  readonly mimeType?: string | undefined;
  readonly name?: string | undefined;
}

export interface GivenCall {
  readonly id: string;
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
}

export interface GivenMessage {
  /** A valid id of an item; absent if the client gives its messages none. */
  readonly id?: string | undefined;
  /** Only `user`, `assistant` and `tool` count: prompts are the agent's own. */
  readonly role: string;
  readonly parts: readonly GivenPart[];
  /** Calls of an assistant's message. */
  readonly calls?: readonly GivenCall[] | undefined;
  /** The call that a message of the role `tool` answers. */
  readonly callId?: string | undefined;
  /** True for the result of a call that has failed. */
  readonly failed?: boolean | undefined;
}

/** Maps content that is a text, or a list of parts. */
export function toParts<Part>(
  content: string | readonly Part[] | null | undefined,
  toPart: (part: Part) => GivenPart,
): readonly GivenPart[] {
  if (typeof content === 'string') return [{ kind: 'text', text: content }];
  return (content ?? []).map(toPart);
}

/** The type of content whose type is not known. */
export const BYTES = 'application/octet-stream';

export function toDataUrl(base64: string): string {
  return `data:${BYTES};base64,${base64}`;
}
