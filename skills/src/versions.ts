import { nearest } from "./nearest.ts";
import type { Skill } from "./skill.ts";

/** A skill, or the names nearest to what was asked, best first. */
export type SkillFound = { skill: Skill } | { skill?: undefined; nearest: string[] };

/** The order of two semantic versions: negative when `a` is the lower. */
export function compareVersions(a: string, b: string): number {
  const right = b.split(".").map(Number);
  const differences = a.split(".").map((part, index) => Number(part) - (right[index] ?? 0));
  return differences.find((difference) => difference !== 0) ?? 0;
}

/** Of each name the highest version, by name. */
export function latestSkills(skills: readonly Skill[]): Skill[] {
  const latest = new Map<string, Skill>();
  for (const skill of skills) {
    const other = latest.get(skill.name);
    if (other === undefined || compareVersions(skill.version, other.version) > 0)
      latest.set(skill.name, skill);
  }
  return [...latest.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Finds `name`, in its highest version, or `name@1.2.0`. */
export function findSkill(skills: readonly Skill[], ref: string): SkillFound {
  const [name = "", version] = ref.trim().split("@", 2);
  const named = skills.filter((skill) => skill.name === name);
  const [skill] =
    version === undefined ? latestSkills(named) : named.filter((one) => one.version === version);
  if (skill !== undefined) return { skill };
  if (named.length > 0) return { nearest: named.map((one) => `${one.name}@${one.version}`) };
  return {
    nearest: nearest(
      name,
      skills.map((one) => one.name),
    ),
  };
}
