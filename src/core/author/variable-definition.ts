/** A variable that a definition declares (definitions §16). */

export interface VariableDefinition {
  readonly name: string;
  readonly type: 'text' | 'secret';
  readonly required: boolean;
  readonly scoped: boolean;
  readonly description: string;
}
