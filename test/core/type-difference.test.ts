/** The comparison of a schema's type with the interface that documents it; the type check is what fails. */
import { describe, expect, it } from '@jest/globals';
import type { Difference } from '../../src/core/value/type-difference.ts';

interface Written {
  readonly name: string;
  readonly limit?: number;
  readonly tags: readonly { readonly id: string }[];
  readonly run?: true | ((given: string) => void);
}

describe('Difference', () => {
  it('names the field in which a schema differs from its interface, and nothing if none does', () => {
    type Equal = { name: string; limit?: number; tags: { id: string }[]; run?: true | (() => unknown) };
    const found: readonly [
      Difference<Omit<Equal, 'limit'>, Written>,
      Difference<Equal & { more?: string }, Written>,
      Difference<Omit<Equal, 'limit'> & { limit: number }, Written>,
      Difference<Omit<Equal, 'name'> & { name: string | null }, Written>,
      Difference<Omit<Equal, 'tags'> & { tags: { id: number }[] }, Written>,
      ...Difference<Equal, Written>[],
    ] = ['.limit', '.more', '.limit?', '.name or null', '.tags[].id'];
    expect(found).toHaveLength(5);
    // @ts-expect-error: there is no difference to name.
    const none: Difference<Equal, Written> = '';
    expect(none).toBe('');
  });
});
