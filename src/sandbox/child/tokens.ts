/**
 * The tokens that the erasure itself reads, with types marked. sucrase's index does not export them, so they are
 * imported from its internals: its version is pinned, and the tests would detect a change.
 */
// @ts-expect-error The package has its types in another folder, which TypeScript finds for its index alone.
import { parse as parseUntyped } from 'sucrase/dist/parser/index.js';
// @ts-expect-error
import { TokenType as UntypedTokenType } from 'sucrase/dist/parser/tokenizer/types.js';
import type { File } from 'sucrase/dist/types/parser/index.js';
import type { Token as SucraseToken } from 'sucrase/dist/types/parser/tokenizer/index.js';
import type { TokenType as SucraseTokenType } from 'sucrase/dist/types/parser/tokenizer/types.js';

const parse: (input: string, jsx: boolean, typescript: boolean, flow: boolean) => File = parseUntyped;

export type Token = Pick<SucraseToken, 'type' | 'start' | 'end' | 'isType'>;

export const TokenType: typeof SucraseTokenType = UntypedTokenType;

/** Throws the same errors as the erasure. */
export function readTokens(source: string): readonly Token[] {
  return parse(source, false, true, false).tokens;
}
