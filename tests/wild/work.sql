create table t(a integer primary key, b text, c real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000)
  insert into t select i, 'text ' || i, i * 1.5 from n;
create index tb on t(b);
select count(*), sum(a), avg(c) from t where b like '%9%';
select b from t order by b desc limit 5;
