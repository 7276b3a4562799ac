// timeline-data.js: what the timeline asks for: of which trace, of which stretch of time, by what it is stacked; and of
// which other trace, where two are compared.

// The trace whose memory is drawn as a line beside that of the other; null: nothing is compared, or two moments are.
export function comparedWith(s, traces) {
  if (s.view !== "diff" || traces.length < 2 || s.before === s.after || (s.moments && s.a && s.b)) return null;
  const [line, whole] = s.trace === s.before ? ["after", "before"] : ["before", "after"];
  return { trace: s[whole], name: whole, other: s[line], otherName: line };
}

// Parameters of `timeline`: `own`, and `other` where two are compared.
export function timelineQuestions(s, traces) {
  const [from, to] = s.stretch.split("..");
  const shared = { filter: s.filter, from: from || undefined, to: to || undefined };
  const compared = comparedWith(s, traces), own = compared ? compared.trace : s.trace;
  return {
    own: { ...shared, trace: own || undefined, by: s.stack === "heap" ? undefined : s.stack },
    peaks: { trace: own || undefined, filter: s.filter },
    other: compared && { ...shared, trace: compared.other || undefined },
    names: compared && [compared.name, compared.otherName],
  };
}

// The same for the same questions.
export const timelineKey = (s, traces) => JSON.stringify(timelineQuestions(s, traces));
